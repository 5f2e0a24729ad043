#!/usr/bin/env node
import { version } from '@orrery/protocol/version';

// The fast path: nothing but the version is loaded before it is printed.
if (process.argv[2] === '--version' || process.argv[2] === '-V') process.stdout.write(`${version}\n`);
else process.exitCode = 2;
