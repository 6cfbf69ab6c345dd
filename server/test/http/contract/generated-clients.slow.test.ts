import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { generateClients } from '../../support/contract/generate-clients.ts'

const root = new URL('../../../../', import.meta.url)
const pathTo = (file: string) => fileURLToPath(new URL(file, root))

const tsconfig = {
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    types: [],
  },
  files: ['openapi-typescript.ts', 'hey-api.ts'],
}

test('the clients that are generated from the contract are typed to the last field', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-clients-'))
  try {
    await cp(pathTo('server/test/http/contract/clients'), folder, { recursive: true })
    await symlink(pathTo('node_modules'), join(folder, 'node_modules'))
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
    await generateClients(new URL('docs/openapi.json', root), join(folder, 'generated'))
    assert.equal(await compile(folder), '')
  } finally {
    await rm(folder, { recursive: true })
  }
})

/** What the compiler has to say. */
const compile = (folder: string): Promise<string> =>
  new Promise((resolve) => {
    const compiler = pathTo('node_modules/typescript/bin/tsc')
    execFile(process.execPath, [compiler, '-p', folder], (error, output) =>
      resolve(error === null ? '' : output || error.message),
    )
  })
