import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'
import { readDockerfile } from '../support/deploy/dockerfile.ts'
import { commandsUnder } from '../support/program/operations.ts'

// Checks that the files named in the steps of docs/operations.md exist; image.slow.test.ts runs the steps that need
// neither Docker nor a cluster.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (name: string) => readFile(join(root, name), 'utf8')
const headings = ['Run as a systemd service', 'Run in containers']
const blocks = headings.flatMap((heading) => ['sh', ''].map((language) => commandsUnder(heading, language)))
const all = (await Promise.all(blocks)).flat().join('\n')

test('every repository file that the steps use exists', () => {
  const paths = [...all.matchAll(/\bdeploy\/[\w./@-]+/g)].map(([path]) => path)
  assert.ok(paths.length > 5)
  assert.deepEqual(
    paths.filter((path) => !existsSync(join(root, path))),
    [],
  )
})

test('the steps create every secret of the cluster, and use the names of its parts', async () => {
  const secret = parse(await read('deploy/kubernetes/secret.example.yaml'))
  const given = [...all.matchAll(/--from-file=([\w-]+)/g)].map(([, name]) => name)
  assert.deepEqual(given.sort(), Object.keys(secret.stringData).sort())
  const files = ['api', 'worker'].map((part) => read(`deploy/kubernetes/${part}.yaml`))
  const manifests = (await Promise.all(files)).flatMap((text) => parseAllDocuments(text).map((one) => one.toJS()))
  const named = [...all.matchAll(/\bdeployment\/(parley-\w+)/g)]
  const there = manifests.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name)
  assert.deepEqual([...new Set(named.map(([, name]) => name))].sort(), there.sort())
})

test('the steps of a container mount the volumes of the image and publish its port', async () => {
  const instructions = readDockerfile(await read('Dockerfile')).flatMap((stage) => stage.instructions)
  const textOf = (name: string) => instructions.find((one) => one.name === name)?.text ?? ''
  assert.ok(all.includes(`--volume parley:${textOf('VOLUME')} `))
  assert.ok(all.includes(`--publish 127.0.0.1:${textOf('EXPOSE')}:${textOf('EXPOSE')} `))
  const page = await read('docs/operations.md')
  assert.ok(page.includes(`--build-arg ${textOf('ARG').split('=')[0]}=`))
})
