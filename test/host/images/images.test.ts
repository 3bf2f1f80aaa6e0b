import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {isStaticElf, pauseImage} from '../../../src/host/images/busybox.js';
import {ociArchive} from '../../../src/host/images/oci-archive.js';
import {tarArchive} from '../../../src/host/images/tar.js';

function unpacked<T>(archive: Buffer, look: (dir: string) => T): T {
  const dir = mkdtempSync(join(tmpdir(), 'mk-tar-'));
  try {
    writeFileSync(join(dir, 'archive.tar'), archive);
    execFileSync('tar', ['-xf', 'archive.tar'], {cwd: dir});
    return look(dir);
  } finally {
    rmSync(dir, {recursive: true});
  }
}

test('an archive is what tar unpacks: contents, modes, links', () => {
  const archive = tarArchive([
    {type: 'directory', path: 'd', mode: 0o750},
    {type: 'file', path: 'd/empty', mode: 0o600, content: new Uint8Array()},
    {type: 'file', path: 'd/block', mode: 0o755, content: new Uint8Array(512).fill(65)},
    {type: 'file', path: 'd/odd', mode: 0o644, content: Buffer.from('zwölf')},
    {type: 'symlink', path: 'd/link', target: 'odd'},
  ]);
  unpacked(archive, dir => {
    expect(readFileSync(join(dir, 'd/empty'), 'utf8')).toBe('');
    expect(readFileSync(join(dir, 'd/block')).equals(Buffer.alloc(512, 'A'))).toBe(true);
    expect(readFileSync(join(dir, 'd/link'), 'utf8')).toBe('zwölf');
    expect(statSync(join(dir, 'd/block')).mode & 0o777).toBe(0o755);
    expect(statSync(join(dir, 'd')).mode & 0o777).toBe(0o750);
  });
});

test('a name that no header holds is refused', () => {
  expect(() => tarArchive([{type: 'directory', path: 'x'.repeat(100), mode: 0}])).toThrow('too long');
});

describe('an image archive', () => {
  const spec = {
    reference: 'docker.io/library/x:1',
    entries: [{type: 'file', path: 'f', mode: 0o644, content: Buffer.from('1')}],
    cmd: ['sh'],
    user: '1000',
  } as const;

  test('is an OCI layout whose digests hold, under its own name', () => {
    unpacked(ociArchive(spec, 'x64'), dir => {
      const json = (path: string): Record<string, never> =>
        JSON.parse(readFileSync(join(dir, path), 'utf8')) as Record<string, never>;
      const index = json('index.json') as unknown as {
        manifests: {digest: string; annotations: Record<string, string>}[];
      };
      const blob = (digest: string): string => `blobs/${digest.replace(':', '/')}`;
      const [entry] = index.manifests;
      expect(entry!.annotations['io.containerd.image.name']).toBe('docker.io/library/x:1');
      const manifest = json(blob(entry!.digest)) as unknown as {config: {digest: string}; layers: {digest: string}[]};
      const config = json(blob(manifest.config.digest)) as unknown as Record<string, unknown>;
      expect(config).toMatchObject({architecture: 'amd64', os: 'linux', config: {Cmd: ['sh'], User: '1000'}});
      for (const digest of [entry!.digest, manifest.config.digest, manifest.layers[0]!.digest]) {
        const sum = execFileSync('sha256sum', [join(dir, blob(digest))])
          .toString()
          .split(' ')[0];
        expect(`sha256:${sum}`).toBe(digest);
      }
    });
  });

  test('is the same for the same content', () => {
    expect(ociArchive(spec).equals(ociArchive(spec))).toBe(true);
    expect(
      pauseImage({binary: Buffer.from('x'), applets: []}).equals(pauseImage({binary: Buffer.from('y'), applets: []})),
    ).toBe(false);
  });
});

test('a program that asks for a loader is not static, and text is no program', () => {
  expect(isStaticElf(readFileSync(process.execPath))).toBe(false);
  expect(isStaticElf(Buffer.from('#!/bin/sh\n'))).toBe(false);
  const program = Buffer.alloc(128);
  program.writeUInt32BE(0x7f454c46, 0);
  program[4] = 2;
  program[5] = 1;
  program.writeBigUInt64LE(64n, 32);
  program.writeUInt16LE(56, 54);
  program.writeUInt16LE(1, 56);
  program.writeUInt32LE(1, 64);
  expect(isStaticElf(program)).toBe(true);
  program.writeUInt32LE(3, 64);
  expect(isStaticElf(program)).toBe(false);
});
