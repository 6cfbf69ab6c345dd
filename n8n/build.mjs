import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

// Builds dist/, which n8n loads. Compiles the client files that the nodes use, because verified nodes may have no
// dependencies.
const here = import.meta.dirname
const [target = join(here, 'dist')] = process.argv.slice(2)
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')

const compiled = join(target, 'n8n')

rmSync(target, { recursive: true, force: true })
execFileSync(process.execPath, [compiler, '-p', here, '--outDir', target], { stdio: 'inherit' })
for (const file of filesIn(join(here, 'nodes'), /\.(svg|json)$/))
  cpSync(join(here, 'nodes', file), join(compiled, 'nodes', file))
// n8n expects dist/nodes and dist/credentials: moves files up one level, and shortens their paths to the client files.
for (const file of filesIn(compiled, /\.js$/)) {
  const text = readFileSync(join(compiled, file), 'utf8')
  writeFileSync(join(compiled, file), text.replaceAll(/require\("\.\.\/((?:\.\.\/)+client\/src\/)/g, 'require("$1'))
}
for (const name of readdirSync(compiled)) renameSync(join(compiled, name), join(target, name))
rmSync(compiled, { recursive: true })
// The nodes use only types of the other client files.
for (const name of readdirSync(join(target, 'client', 'src'))) {
  if (name !== 'errors.js' && name !== 'webhooks.js') rmSync(join(target, 'client', 'src', name))
}

/**
 * @param {string} folder
 * @param {RegExp} name
 */
function filesIn(folder, name) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => name.test(file))
}
