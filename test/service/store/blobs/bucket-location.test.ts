import { describe, expect, test } from 'vitest';
import { parseMediaUrl } from '../../../../src/service/store/blobs/bucket-location.ts';

const KEY = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'hush-hush' };
const AT_AWS = { ...KEY, AWS_REGION: 'eu-central-1' };

describe('a place in an object store', () => {
  test.each([
    ['s3://team', AT_AWS, 'https://team.s3.eu-central-1.amazonaws.com', ''],
    ['s3://team.media/a/b/', AT_AWS, 'https://s3.eu-central-1.amazonaws.com/team.media', 'a/b/'],
    [
      's3://team/a',
      { ...AT_AWS, AWS_REGION: 'cn-north-1' },
      'https://team.s3.cn-north-1.amazonaws.com.cn',
      'a/',
    ],
    [
      's3://team/a',
      { ...KEY, AWS_ENDPOINT_URL: 'http://store:9000/' },
      'http://store:9000/team',
      'a/',
    ],
    [
      's3://team/a',
      { ...KEY, AWS_ENDPOINT_URL: 'http://other', AWS_ENDPOINT_URL_S3: 'https://store/base' },
      'https://store/base/team',
      'a/',
    ],
  ])('%s is found with the variables of the AWS tools', (text, env, bucketUrl, prefix) => {
    expect(parseMediaUrl(text, env)).toMatchObject({
      bucketUrl,
      prefix,
      secretAccessKey: 'hush-hush',
    });
  });

  test.each([
    ['https://team/a', AT_AWS, 's3://bucket/prefix'],
    ['s3://u:p@team/a', AT_AWS, 's3://bucket/prefix'],
    ['s3://', AT_AWS, 's3://bucket/prefix'],
    ['s3://team/a/../b', AT_AWS, 's3://bucket/prefix'],
    ['s3://team/a?b', AT_AWS, 's3://bucket/prefix'],
    ['s3://b/p', AT_AWS, 'the name of the bucket, b, is too short'],
    ['s3://team/a', KEY, 'AWS_REGION'],
    ['s3://team/a', { AWS_REGION: 'eu-central-1' }, 'AWS_ACCESS_KEY_ID'],
    ['s3://team/a', { ...KEY, AWS_REGION: 'x.evil.example/' }, 'AWS_REGION'],
    ['s3://team/a', { ...KEY, AWS_ENDPOINT_URL: 'http://u:p@store' }, 'AWS_ENDPOINT_URL is not'],
  ])('%s is refused with %j', (text, env, message) => {
    const read = () => parseMediaUrl(text, env);
    expect(read).toThrow(message);
    expect(read).not.toThrow(/hush|u:p/);
  });
});
