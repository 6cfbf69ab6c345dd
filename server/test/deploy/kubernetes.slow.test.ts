import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { allManifests, type Manifest, root } from './manifests.ts'

// biome-ignore lint/suspicious/noExplicitAny: manifests of every shape
type Any = any
const nameOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`
const moduleOf = ({ apiVersion, kind }: Manifest) => `kubernetes-models/${apiVersion}/${kind}`

test('Kubernetes accepts every manifest and knows all fields; unknown fields and wrong values are found', async () => {
  assert.ok(allManifests.length > 10)
  const api: Any = allManifests.find((one) => nameOf(one) === 'Deployment parley-api')
  const spoilt = (name: string, spoil: (container: Any) => void) => {
    const bad = structuredClone(api)
    bad.metadata.name = name
    spoil(bad.spec.template.spec.containers[0])
    return bad
  }
  const unknown = spoilt('unknown', (one) => Object.assign(one, { readynessProbe: one.readinessProbe }))
  const wrong = spoilt('wrong', (one) => Object.assign(one.ports[0], { containerPort: '7007' }))
  const manifests = [...allManifests, unknown, wrong]
  const problems = [...(await findSchemaErrors(manifests)), ...(await findTypeErrors(manifests))]
  assert.deepEqual(
    problems.filter((problem) => !/^Deployment (unknown|wrong): /.test(problem)),
    [],
  )
  assert.match(problems.join('\n'), /^Deployment unknown: .*"readynessProbe"' does not exist/m)
  assert.match(problems.join('\n'), /^Deployment wrong: data\S*containerPort must be integer/m)
})

/** Returns errors according to the OpenAPI document of Kubernetes, which accepts unknown fields. */
async function findSchemaErrors(manifests: readonly Manifest[]): Promise<string[]> {
  const wrong: string[] = []
  for (const manifest of manifests) {
    const module = await import(moduleOf(manifest))
    try {
      new module[manifest.kind](manifest).validate()
    } catch (error) {
      wrong.push(`${nameOf(manifest)}: ${error instanceof Error ? error.message : error}`)
    }
  }
  return wrong
}

/** Returns errors according to the TypeScript types, which reject unknown fields. */
async function findTypeErrors(manifests: readonly Manifest[]): Promise<string[]> {
  // The package must be resolvable from here.
  const folder = join(root, 'node_modules/.cache/parley-manifests')
  await mkdir(folder, { recursive: true })
  const file = join(folder, `${process.pid}.ts`)
  const lines = manifests.map(
    (one, n) => `export const of${n}: import('${moduleOf(one)}').I${one.kind} = ${JSON.stringify(one)}`,
  )
  await writeFile(file, lines.join('\n'))
  const options = '--ignoreConfig --noEmit --strict --skipLibCheck --types node --module nodenext --target esnext'
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const run = promisify(execFile)(process.execPath, [tsc, ...options.split(' '), file], { cwd: folder })
  const { stdout } = await run.catch((error: { stdout: string }) => error)
  await rm(file)
  const told = [...stdout.matchAll(/\((\d+),\d+\): error TS\d+: (.*)/g)]
  return told.map(([, line, words]) => `${nameOf(manifests[Number(line) - 1] ?? assert.fail())}: ${words}`)
}
