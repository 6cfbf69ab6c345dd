import { runProgram } from './runtime.mjs'

await runProgram(new URL('../scripts/start.ts', import.meta.url))
