// Fault test of a cluster: machines fail in different ways during acknowledged writes; afterwards all data is checked.
//
//   npm run test:cluster -- [--cases node-killed,…] [--rounds 5] [--minutes 90] [--write] [--json results.json]
// [--keep]
import { fileURLToPath } from 'node:url'
import { folder } from './cluster-folder.ts'
import { readOptions } from './fault-test/options.ts'
import { assertNoCluster, down, printErrors, runWithin, up } from './run.ts'

await printErrors(async () => {
  const words = process.argv.slice(2)
  // Validates the options before anything is started.
  const { keep } = readOptions(words)
  await assertNoCluster()
  try {
    await up()
    process.exitCode = await runWithin(words, fileURLToPath(new URL('fault-test/run-fault-test.ts', import.meta.url)))
  } finally {
    if (!keep) await down()
    console.log(`Logs are in ${folder}/logs.`)
  }
})
