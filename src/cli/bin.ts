#!/usr/bin/env node
process.stdout.write("stub\n");
export {};
