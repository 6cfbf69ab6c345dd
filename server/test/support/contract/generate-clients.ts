import { mkdir, writeFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { join } from 'node:path'

/**
 * Writes the clients that the field's generators make of an OpenAPI document: `openapi-typescript.ts`, and a folder
 * `hey-api`. Both with the options they have by default.
 */
export async function generateClients(document: URL, folder: string): Promise<void> {
  // They use the interface of the compiler, which ours has no more.
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
