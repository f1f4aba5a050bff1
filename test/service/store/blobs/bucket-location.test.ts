import { describe, expect, test } from 'vitest';
import { parseMediaUrl } from '../../../../src/service/store/blobs/bucket-location.ts';

const KEY = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'hush-hush' };
const AT_AWS = { ...KEY, AWS_REGION: 'eu-central-1' };

/** The secret key and the password of the tests. */
const SECRETS = /hush|u:p/;

describe('a place in an object store', () => {
  test.each([
    {
      name: 'at AWS, with the bucket in the name of the host',
      mediaUrl: 's3://team',
      env: AT_AWS,
      bucketUrl: 'https://team.s3.eu-central-1.amazonaws.com',
      prefix: '',
    },
    {
      name: 'at AWS, with the bucket in the path if its name has a dot',
      mediaUrl: 's3://team.media/a/b/',
      env: AT_AWS,
      bucketUrl: 'https://s3.eu-central-1.amazonaws.com/team.media',
      prefix: 'a/b/',
    },
    {
      name: 'at AWS in China',
      mediaUrl: 's3://team/a',
      env: { ...AT_AWS, AWS_REGION: 'cn-north-1' },
      bucketUrl: 'https://team.s3.cn-north-1.amazonaws.com.cn',
      prefix: 'a/',
    },
    {
      name: 'at the address of AWS_ENDPOINT_URL',
      mediaUrl: 's3://team/a',
      env: { ...KEY, AWS_ENDPOINT_URL: 'http://store:9000/' },
      bucketUrl: 'http://store:9000/team',
      prefix: 'a/',
    },
    {
      name: 'at the address of AWS_ENDPOINT_URL_S3 rather than of AWS_ENDPOINT_URL',
      mediaUrl: 's3://team/a',
      env: { ...KEY, AWS_ENDPOINT_URL: 'http://other', AWS_ENDPOINT_URL_S3: 'https://store/base' },
      bucketUrl: 'https://store/base/team',
      prefix: 'a/',
    },
  ])('is $name', ({ mediaUrl, env, bucketUrl, prefix }) => {
    expect(parseMediaUrl(mediaUrl, env)).toMatchObject({
      bucketUrl,
      prefix,
      secretAccessKey: 'hush-hush',
    });
  });

  test.each([
    { mediaUrl: 'https://team/a', message: 's3://bucket/prefix' },
    { mediaUrl: 's3://u:p@team/a', message: 's3://bucket/prefix' },
    { mediaUrl: 's3://', message: 's3://bucket/prefix' },
    { mediaUrl: 's3://team/a/../b', message: 's3://bucket/prefix' },
    { mediaUrl: 's3://team/a?b', message: 's3://bucket/prefix' },
    { mediaUrl: 's3://b/p', message: 'the name of the bucket, b, is too short' },
  ])('is refused if its URL is $mediaUrl', ({ mediaUrl, message }) => {
    const parse = () => parseMediaUrl(mediaUrl, AT_AWS);
    expect(parse).toThrow(message);
    expect(parse).not.toThrow(SECRETS);
  });

  test.each([
    { name: 'no region', env: KEY, message: 'AWS_REGION' },
    { name: 'no key', env: { AWS_REGION: 'eu-central-1' }, message: 'AWS_ACCESS_KEY_ID' },
    {
      name: 'a region that is another host',
      env: { ...KEY, AWS_REGION: 'x.evil.example/' },
      message: 'AWS_REGION',
    },
    {
      name: 'a password in the address',
      env: { ...KEY, AWS_ENDPOINT_URL: 'http://u:p@store' },
      message: 'AWS_ENDPOINT_URL is not',
    },
  ])('is refused if the environment has $name', ({ env, message }) => {
    const parse = () => parseMediaUrl('s3://team/a', env);
    expect(parse).toThrow(message);
    expect(parse).not.toThrow(SECRETS);
  });
});
