// Gives a volume to the pod's fsGroup.
// Mirrors kubelet v1.36 pkg/volume/volume_linux.go ChangePermissions. Its fsGroupChangePolicy never concerns the volumes made
// here: the API gives it no effect on emptyDir, configMap, secret, downwardAPI and projected volumes.
import {chmod, lchown, lstat, readdir} from 'node:fs/promises';
import {join} from 'node:path';

const SETGID = 0o2000;
const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
const ENTER = 0o110;

/** Sets group and modes of a directory and everything below; links get the group only. undefined = nothing is changed. */
export async function setVolumeGroup(path: string, fsGroup: number | undefined, readOnly: boolean): Promise<void> {
  if (fsGroup === undefined) return;
  const info = await lstat(path);
  const isDirectory = info.isDirectory();
  if (isDirectory) for (const name of await readdir(path)) await setVolumeGroup(join(path, name), fsGroup, readOnly);
  await lchown(path, -1, fsGroup);
  if (info.isSymbolicLink()) return;
  const bits = (readOnly ? READ_ONLY : READ_WRITE) | (isDirectory ? SETGID | ENTER : 0);
  await chmod(path, (info.mode & 0o7777) | bits);
}
