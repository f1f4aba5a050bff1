import { describe, expect, it } from 'vitest';
import { isLoopbackHost, isPrivateHost, isPublicAddress } from '../../src/wire/addresses.ts';

describe('an address', () => {
  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.1.2.3',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::a00:1',
    '100::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '5f00::1',
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f000001',
    ' 8.8.8.8',
  ])('%j is not public', address => expect(isPublicAddress(address)).toBe(false));

  it.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450:4001:82a::200e',
  ])('%s is public', address => expect(isPublicAddress(address)).toBe(true));
});

describe('a host', () => {
  it.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.b.localhost',
    '127.0.0.1',
    '127.9.9.9',
    '[::1]',
    '::1',
  ])('%s is this machine', host =>
    expect([isLoopbackHost(host), isPrivateHost(host)]).toEqual([true, true]),
  );

  it.each([
    '127.evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'evil-localhost',
    'service.example',
    '8.8.8.8',
    '',
  ])('%j is neither this machine nor private', host =>
    expect([isLoopbackHost(host), isPrivateHost(host)]).toEqual([false, false]),
  );

  it.each([
    '10.0.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '0.0.0.0',
    '[fe80::1]',
    '[::ffff:127.0.0.1]',
    '[::]',
  ])('%s is private without being this machine', host =>
    expect([isLoopbackHost(host), isPrivateHost(host)]).toEqual([false, true]),
  );
});
