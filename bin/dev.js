#!/usr/bin/env node
// The command line straight from the sources: slower to start, nothing to build.
/* global require, process, __dirname */
/* eslint-disable @typescript-eslint/no-require-imports */
'use strict';
const {join} = require('node:path');

/** Lets Node import TypeScript, then starts as bin/run.js does. */
async function start() {
  const {register} = await import('tsx/esm/api');
  register();
  const commands = await import('../src/commands/index.ts');
  await commands.start(process.argv.slice(2), join(__dirname, '..'), './src/commands/index.ts');
}

void start();
