#!/usr/bin/env node
import { runProgram } from './runtime.mjs'

await runProgram(new URL('../server/src/main.ts', import.meta.url))
