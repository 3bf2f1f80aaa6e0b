#!/usr/bin/env node
// Starts the bundle from its bytecode cache: compiling it anew would double the start-up time. A cache that V8 rejects
// (another Node, another CPU) costs nothing but that time. CommonJS, because Node starts it faster than a module.
/* global require, module, process, __dirname */
/* eslint-disable @typescript-eslint/no-require-imports */
'use strict';
const {readFileSync} = require('node:fs');
const Module = require('node:module');
const {join} = require('node:path');
const {Script, constants} = require('node:vm');

const dist = join(__dirname, '..', 'dist');
const bundle = 'minikubelet.cjs';

/** Runs the bundle as `require` would, and leaves it in the module cache, where oclif looks for the commands. */
function load() {
  const filename = join(dist, bundle);
  const script = new Script(Module.wrap(readFileSync(filename, 'latin1')), {
    filename,
    cachedData: bytecode(),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const bundled = new Module(filename, module);
  bundled.filename = filename;
  bundled.paths = module.paths;
  require.cache[filename] = bundled;
  script.runInThisContext()(bundled.exports, Module.createRequire(filename), bundled, filename, dist);
  bundled.loaded = true;
  return {script, start: bundled.exports.start};
}

function bytecode() {
  try {
    return readFileSync(join(dist, 'minikubelet.bytecode'));
  } catch {
    return undefined;
  }
}

const {script, start} = load();
const done = start(process.argv.slice(2), dist, `./${bundle}`);
// The build runs this with a file name to save the bytecode of what a real run compiles.
const save = process.env.MINIKUBELET_SAVE_BYTECODE;
if (save) void done.then(() => require('node:fs').writeFileSync(save, script.createCachedData()));
