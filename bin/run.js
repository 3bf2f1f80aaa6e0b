#!/usr/bin/env node
// Starts the bundle from its bytecode cache: compiling it anew would double the start-up time. A cache that V8 rejects
// (another Node, another CPU) costs nothing but that time. CommonJS, because Node starts it faster than a module.
/* global require, module, process, Buffer, __dirname */
/* eslint-disable @typescript-eslint/no-require-imports */
'use strict';
const {closeSync, fstatSync, openSync, readSync, writeFileSync} = require('node:fs');
const Module = require('node:module');
const {join} = require('node:path');
const {Script} = require('node:vm');

const dist = join(__dirname, '..', 'dist');
const name = 'minikubelet.cjs';
/** Whether one of these commands is asked for. Flags may stand before it; a word that only looks like one does no harm. */
const asksFor = (...commands) => commands.some(command => process.argv.includes(command, 2));
/** Whether it runs for months. */
const isLasting = asksFor('watch');
/** Whether it ends within seconds, having made pods: what takes long to pay for itself is left out. */
const isBrief = !isLasting && asksFor('apply', 'delete');
/** Whether only a word is asked for: --version, --help. */
const isShort = !isLasting && !isBrief && /^(-|help$|version$)/.test(process.argv[2] ?? '-');

/**
 * Runs the bundle as `require` would, and leaves it in the module cache, where oclif looks for the commands. The build has
 * put it into the function that Node makes of a module: doing that here would copy its megabytes once more.
 */
function load() {
  const filename = join(dist, name);
  const read = fileReader();
  const source = read(filename).latin1Slice();
  const script = new Script(source, {filename, cachedData: bytecodeOf(source, read)});
  const bundle = new Module(filename, module);
  bundle.filename = filename;
  bundle.paths = module.paths;
  require.cache[filename] = bundle;
  script.runInThisContext()(bundle.exports, Module.createRequire(filename), bundle, filename, dist);
  bundle.loaded = true;
  return {script, start: bundle.exports.start};
}

/** V8 compares no more than lengths, so the cache is named after the content, which the first line of the bundle tells. */
function bytecodeOf(source, read) {
  const build = source.slice(3, source.indexOf('\n'));
  // Reading in the bytecode of a whole apply takes time, too: what only says a word gets by with less.
  try {
    return read(join(dist, `${build}.${isShort ? 'short' : 'whole'}.bytecode`));
  } catch {
    return undefined;
  }
}

/**
 * Reads files into the same memory, one after the other: an answer is good until the next. New memory costs the kernel a page
 * fault for each 4 KB, so there is room at once for a file somewhat longer than the first.
 */
function fileReader() {
  let memory = Buffer.alloc(0);
  return file => {
    const fd = openSync(file, 'r');
    try {
      const {size} = fstatSync(fd);
      if (memory.length < size) memory = Buffer.allocUnsafeSlow(Math.ceil(1.25 * size));
      let length = 0;
      let more = 0;
      do {
        more = readSync(fd, memory, length, size - length, null);
        length += more;
      } while (more > 0 && length < size);
      return memory.subarray(0, length);
    } finally {
      closeSync(fd);
    }
  };
}

function setFlags(flags) {
  require('node:v8').setFlagsFromString(flags);
}

/**
 * Gives new objects 8 MB at once. V8 begins with one, looks through it each time it is full, and doubles it when much of it
 * has stayed alive: in a run that keeps most of what it makes until its end that is a tenth of the processor time. It grows
 * when enough has survived, so something must.
 */
function growNursery() {
  const {getHeapSpaceStatistics} = require('node:v8');
  const size = () => getHeapSpaceStatistics().find(({space_name: space}) => space === 'new_space').space_size;
  setFlags('--semi-space-growth-factor=8');
  const before = size();
  for (let kept = []; size() < 4 * before && kept.length < 40;) kept.push(new Array(15_000));
  setFlags('--semi-space-growth-factor=2');
}

// The build runs this with a file name to save the bytecode of what a real run compiles.
const save = process.env.MINIKUBELET_SAVE_BYTECODE;
// Node promises no flags, and V8 complains of those it does not know: only for the V8 that these were tried on. Bytecode is bound
// to the flags it was saved under, and so is that of Node's own modules: a flag is set back before they are read in, or set
// after. Loading node:v8 takes time that a word does not have.
const hasTunableV8 = !isShort && !save && process.versions.v8.startsWith('11.');
if (hasTunableV8 && isBrief) growNursery();
const {script, start} = load();
if (hasTunableV8 && (isBrief || isLasting)) {
  // For each HTTP/2 request Node wraps two properties, only to warn once whoever reads them: a tenth of what a request costs.
  process.noDeprecation = true;
  // What every connection to a runtime needs of Node.
  require('node:http2');
  require('node:dns');
  // A brief run learns the shapes of objects from the first call of a function, and optimizes four times later, for it does not
  // win back the time that takes. It uses up its nursery before it looks through it, by this thread alone: the other processors
  // are the runtime's. A lasting one has to be thrifty: left alone, V8 lets garbage grow to several times what is alive.
  setFlags(
    isBrief
      ? '--interrupt-budget=270336 --minor-gc-task-trigger=100 --no-parallel-scavenge --no-lazy-feedback-allocation'
      : '--heap-growing-percent=30',
  );
}

const done = start(process.argv.slice(2), dist, `./${name}`);
void done.then(() => {
  if (save) writeFileSync(save, script.createCachedData());
  // Nothing is left to do. That V8 takes all of its heap apart before the kernel does would take 2 ms, so it ends here, unless
  // somebody who reads slowly has not got everything yet.
  if (process.stdout.writableLength + process.stderr.writableLength === 0) process.exit();
});
