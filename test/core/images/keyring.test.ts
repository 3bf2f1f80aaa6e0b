import {expect, test} from 'vitest';
import {lookUpCredentials, parseDockerConfig, secretKeyring, type Keyring} from '../../../src/core/images/keyring.js';
import type {Secret} from '../../../src/core/pod/types.js';

function keyringOf(auths: Readonly<Record<string, string>>): Keyring {
  const entries = Object.entries(auths).map(([key, user]) => [key, {auth: btoa(`${user}:pw`)}] as const);
  const parsed = parseDockerConfig(JSON.stringify({auths: Object.fromEntries(entries) as unknown}));
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.keyring;
}

function usersFor(keyrings: readonly Keyring[], repository: string): string[] {
  return lookUpCredentials(keyrings, repository).map(({username}) => username);
}

test.for([
  [
    {'reg.example': 'all', 'reg.example/team': 'team', 'reg.example/team/app': 'app'},
    'reg.example/team/app',
    ['app', 'team', 'all'],
  ],
  [{'reg.example': 'all', 'reg.example/team': 'team'}, 'reg.example/other', ['all']],
  [{'reg.example': 'all'}, 'reg.example:5000/app', []],
  [{'reg.example:5000': 'port'}, 'reg.example:5000/app', ['port']],
  [{'*.example': 'glob'}, 'reg.example/app', ['glob']],
  [{'*.example': 'glob'}, 'a.reg.example/app', []],
  [{'https://reg.example/v1/': 'v1', 'http://reg.example/v2/': 'v2'}, 'reg.example/app', ['v1', 'v2']],
  [{'https://index.docker.io/v1/': 'hub'}, 'docker.io/library/nginx', ['hub']],
  [{'https://index.docker.io/v1/': 'hub', 'docker.io/team': 'team'}, 'docker.io/team/app', ['team']],
  [{'https://index.docker.io/v1/': 'hub'}, 'reg.example/app', []],
] as const)('with %j, %s is pulled as %j', ([auths, repository, users]) => {
  expect(usersFor([keyringOf(auths)], repository)).toEqual(users);
});

test('credentials of the pod come before those of the host, however short their path', () => {
  const ofPod = keyringOf({'reg.example': 'pod'});
  const ofHost = keyringOf({'reg.example/team/app': 'host'});
  expect(usersFor([ofPod, ofHost], 'reg.example/team/app')).toEqual(['pod', 'host']);
});

test.for([
  [{auth: btoa('me:a:b')}, {username: 'me', password: 'a:b'}],
  [{auth: btoa('me:pw').replace(/=+$/, '')}, {username: 'me', password: 'pw'}],
  [
    {username: 'me', password: 'pw'},
    {username: 'me', password: 'pw'},
  ],
  [{username: 'me'}, {username: 'me', password: ''}],
] as const)('the entry %j logs in as %j', ([entry, credentials]) => {
  const parsed = parseDockerConfig(JSON.stringify({auths: {'reg.example': entry}}));
  expect(parsed).toEqual({ok: true, keyring: [{key: 'reg.example', credentials}]});
});

test('an entry that leaves the login to a credential helper is passed over', () => {
  expect(parseDockerConfig('{"auths": {"reg.example": {}}, "credsStore": "desktop"}')).toEqual({ok: true, keyring: []});
});

test.for([
  ['{', /^not JSON: /],
  ['[]', /^not a JSON object$/],
  ['{"auths": 1}', /^"auths" is not an object$/],
  [
    '{"auths": {"r": {"auth": "bm9jb2xvbg=="}}}',
    /^r: unable to parse auth field, must be formatted as base64\(username:password\)$/,
  ],
  ['{"auths": {"r": {"auth": "%%"}}}', /^r: unable to parse auth field/],
] as const)('the configuration %s is refused with a reason', ([text, problem]) => {
  const parsed = parseDockerConfig(text);
  expect(parsed.ok ? '' : parsed.problem).toMatch(problem);
});

test.for([
  ['kubernetes.io/dockerconfigjson', '.dockerconfigjson', {auths: {'reg.example': {auth: btoa('me:pw')}}}],
  ['kubernetes.io/dockercfg', '.dockercfg', {'reg.example': {auth: btoa('me:pw')}}],
] as const)('a secret of type %s holds credentials under %s', ([type, key, config]) => {
  const secret: Secret = {type, data: {[key]: btoa(JSON.stringify(config))}};
  const parsed = secretKeyring(secret);
  expect(parsed.ok && usersFor([parsed.keyring], 'reg.example/app')).toEqual(['me']);
});

test('a secret of another type holds none', () => {
  expect(secretKeyring({type: 'Opaque', data: {'.dockerconfigjson': btoa('{}')}})).toEqual({ok: true, keyring: []});
});
