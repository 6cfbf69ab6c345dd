import { execFileSync } from 'node:child_process'
import { cpSync, globSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

// Makes dist/: what n8n loads. The client's files that the nodes use are compiled with them, since a node that n8n verifies may depend
// on no other package.
const here = import.meta.dirname
const [target = join(here, 'dist')] = process.argv.slice(2)
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')

rmSync(target, { recursive: true, force: true })
execFileSync(process.execPath, [compiler, '-p', here, '--outDir', target], { stdio: 'inherit' })
for (const file of globSync('nodes/**/*.{svg,json}', { cwd: here })) cpSync(join(here, file), join(target, 'n8n', file))
