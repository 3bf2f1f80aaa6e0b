// Writes the demo's image, docker.io/library/busybox:1.36 made from the host's busybox-static, as an archive for
// `minikubelet runtime load`. Usage: tsx scripts/demo-image.ts FILE
import {writeFile} from 'node:fs/promises';
import {busyboxImage, DEMO_IMAGE, readBusybox} from '../src/host/images/busybox.js';

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: tsx scripts/demo-image.ts FILE');
  process.exitCode = 2;
} else {
  await writeFile(file, busyboxImage(await readBusybox()));
  console.error(`demo-image: ${DEMO_IMAGE} written to ${file}`);
}
