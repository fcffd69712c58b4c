import { UNKNOWN_ADDRESS, clientAddress } from '../../../src/platform/lib/client-address';

const PROXY = '10.0.0.9';

describe('the client address without trusted proxies', () => {
  it.each([
    ['is the socket address', '203.0.113.7', '', '203.0.113.7'],
    ['ignores X-Forwarded-For', '203.0.113.7', '10.1.1.1', '203.0.113.7'],
    ['writes mapped IPv4 as IPv4', '::ffff:203.0.113.7', '', '203.0.113.7'],
    ['writes IPv4 mapped in hex as IPv4', '::FFFF:CB00:7107', '', '203.0.113.7'],
    ['writes IPv6 in its shortest form', '2001:DB8:0:0:0:0:0:1', '', '2001:db8::1'],
    ['drops a zone', 'fe80::1%eth0', '', 'fe80::1'],
    ['is unknown when the socket is gone', undefined, '', UNKNOWN_ADDRESS],
  ])('%s', (_, socket, header, expected) => {
    expect(clientAddress(socket, header, 0)).toBe(expected);
  });
});

describe('the client address behind trusted proxies', () => {
  it.each([
    ['is the right-most hop for one proxy', 1, '198.51.100.1', '198.51.100.1'],
    ['ignores what the client put left of it', 1, '10.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['ignores rubbish left of it', 1, 'x, 198.51.100.1', '198.51.100.1'],
    ['counts the hops of two proxies', 2, '10.1.1.1, 198.51.100.1, 10.0.0.8', '198.51.100.1'],
    ['is the first known hop when there are fewer', 3, '198.51.100.1', '198.51.100.1'],
    ['is the socket without the header', 1, '', PROXY],
    ['normalises the hop', 1, ' ::ffff:198.51.100.1 ', '198.51.100.1'],
    ['is unknown for a hop that is no address', 1, 'unknown', UNKNOWN_ADDRESS],
    ['is unknown for a hop with a port', 1, '198.51.100.1:80', UNKNOWN_ADDRESS],
    ['is unknown for an empty hop', 1, '198.51.100.1, ', UNKNOWN_ADDRESS],
    ['is unknown when a hop on the way is malformed', 2, '198.51.100.1, x', UNKNOWN_ADDRESS],
    ['takes no leading zeros', 1, '010.001.001.001', UNKNOWN_ADDRESS],
  ])('%s', (_, hops, header, expected) => {
    expect(clientAddress(PROXY, header, hops)).toBe(expected);
  });
});
