import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

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
  files: ['openapi-typescript.ts', 'generated/hey-api/index.ts'],
}

test('generated clients compile and are fully typed', async () => {
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

/** Returns the output of the compiler. */
const compile = (folder: string): Promise<string> =>
  new Promise((resolve) => {
    const compiler = pathTo('node_modules/typescript/bin/tsc')
    execFile(process.execPath, [compiler, '-p', folder], (error, output) =>
      resolve(error === null ? '' : output || error.message),
    )
  })

/**
 * Generates clients from an OpenAPI document: `openapi-typescript.ts`, and a folder
 * `hey-api`. Both with default options.
 */
async function generateClients(document: URL, folder: string): Promise<void> {
  // The generators need the compiler API, which our compiler version does not have.
  const hooks = registerHooks({
    resolve: (specifier, context, next) => next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
  })
  try {
    const [{ default: typesOf, astToString }, { createClient }] = await Promise.all([
      import('openapi-typescript'),
      import('@hey-api/openapi-ts'),
    ])
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'openapi-typescript.ts'), astToString(await typesOf(document)))
    const output = { path: join(folder, 'hey-api') }
    await createClient({ input: document.pathname, output, logs: { level: 'silent', file: false } })
  } finally {
    hooks.deregister()
  }
}
