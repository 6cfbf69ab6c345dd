import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse, parseAllDocuments } from 'yaml'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string }
}

export const folder = join(root, 'deploy/kubernetes')
export const read = (name: string) => readFileSync(join(folder, name), 'utf8')
export const kustomization = parse(read('kustomization.yaml'))
/** Those that are applied, and the secret that they need. */
export const allManifests: Manifest[] = [...kustomization.resources, 'secret.example.yaml'].flatMap((name: string) =>
  parseAllDocuments(read(name)).map((document) => document.toJS()),
)

/**
 * What Kubernetes would say of manifests, by its own description of the interface: wrong values by the schema, and by the types
 * whatever it does not know, which the schema lets pass.
 */
export async function problemsOf(manifests: readonly Manifest[]): Promise<string[]> {
  const wrong: string[] = []
  for (const manifest of manifests) {
    const module = await import(moduleOf(manifest))
    try {
      new module[manifest.kind](manifest).validate()
    } catch (error) {
      wrong.push(`${manifest.kind} ${manifest.metadata.name}: ${error instanceof Error ? error.message : error}`)
    }
  }
  return [...wrong, ...(await unknownIn(manifests))]
}

const moduleOf = ({ apiVersion, kind }: Manifest) => `kubernetes-models/${apiVersion}/${kind}`

async function unknownIn(manifests: readonly Manifest[]): Promise<string[]> {
  // Where the package is found.
  const folder = join(root, 'node_modules/.cache/parley-manifests')
  await mkdir(folder, { recursive: true })
  const file = join(folder, `${process.pid}-${manifests.length}.ts`)
  const lines = manifests.map(
    (one, n) => `export const of${n}: import('${moduleOf(one)}').I${one.kind} = ${JSON.stringify(one)}`,
  )
  await writeFile(file, lines.join('\n'))
  const options = '--ignoreConfig --noEmit --strict --skipLibCheck --types node --module nodenext --target esnext'
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const run = promisify(execFile)(process.execPath, [tsc, ...options.split(' '), file], { cwd: folder })
  const told = await run.then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
  await rm(file)
  return told
    .split('\n')
    .filter((line) => line.includes('error TS'))
    .map((line) => {
      const { kind, metadata } = manifests[Number(/\((\d+),/.exec(line)?.[1]) - 1] ?? {}
      return `${kind} ${metadata?.name}: ${line.replace(/^.*?error TS\d+: /, '')}`
    })
}
