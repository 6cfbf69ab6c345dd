import assert from 'node:assert/strict'
import { cp, readdir, readFile, stat } from 'node:fs/promises'
import { BlockList } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { loadConfig } from '../../src/config.ts'
import { paths } from '../../src/http/monitoring/health.ts'
import { loadSettings } from '../support/deploy/settings.ts'
import { newFolder } from '../support/folder.ts'
import { commandsUnder, type } from '../support/program/operations.ts'
import { shellEnvironment } from '../support/program/shell.ts'

const folder = fileURLToPath(new URL('../../../deploy/compose', import.meta.url))
const read = (name: string) => readFile(join(folder, name), 'utf8')
const domain = 'parley.example.com'
// Compose substitutes variables before it parses values.
const text = (await read('compose.yaml')).replaceAll(/\$\{PARLEY_DOMAIN(?::\?[^}]*)?\}/g, domain)
const { services, secrets, networks } = parse(text, { merge: true })
const parts = ['api', 'worker']

test('api and worker have the same settings, all of which the service knows', async () => {
  for (const part of parts) {
    const config = await loadSettings({ ...services[part].environment, PARLEY_DEMO: '0' })
    assert.equal(config.http.publicUrl, `https://${domain}`)
    assert.equal(config.database.address?.hosts[0]?.host, 'postgres')
    assert.ok(config.database.address?.password)
    assert.deepEqual(config.media, { kind: 'folder', folder: '/srv/parley-media' })
    assert.deepEqual(services[part].command, ['serve', '--only', part])
  }
  assert.deepEqual(services.api.environment, services.worker.environment)
})

test('no service is a privileged root, and those of Parley have read-only file systems', () => {
  for (const [name, service] of Object.entries<{ read_only?: boolean; cap_drop?: string[]; security_opt?: string[] }>(
    services,
  )) {
    // PostgreSQL's image starts as root and then switches to another user.
    if (name === 'postgres') continue
    assert.equal(service.read_only, true, name)
    assert.deepEqual(service.cap_drop, ['ALL'], name)
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
  }
})

test('the database is not reachable from outside, and only Caddy publishes ports', () => {
  assert.equal(networks.database.internal, true)
  assert.deepEqual(services.postgres.networks, ['database'])
  assert.deepEqual(
    Object.keys(services).filter((name) => services[name].ports !== undefined),
    ['caddy'],
  )
})

test('the api trusts the proxy, which checks its readiness at its port', async () => {
  const address = services.caddy.networks.front.ipv4_address
  assert.equal(services.api.environment.PARLEY_TRUSTED_PROXIES, address)
  const [network = '', bits] = networks.front.ipam.config[0].subnet.split('/')
  const front = new BlockList()
  front.addSubnet(network, Number(bits))
  assert.ok(front.check(address))
  const caddyfile = await read('Caddyfile')
  assert.match(caddyfile, new RegExp(`:api:${loadConfig({}).http.port}\\}`))
  assert.ok(caddyfile.includes(`health_uri ${paths.ready}\n`))
  assert.ok(services.caddy.volumes.includes('./Caddyfile:/etc/caddy/Caddyfile:ro'))
})

test('the commands of "Docker Compose" create each secret of its file once, readable by no other user', async () => {
  const [make = '', ...more] = await commandsUnder('Run in containers')
  assert.deepEqual(more, [])
  const clone = await newFolder()
  const own = join(clone, 'deploy/compose')
  await cp(folder, own, { recursive: true, filter: (path) => !path.endsWith('/secrets') })
  await type(make, clone, shellEnvironment({}))
  assert.equal(await readFile(join(own, '.env'), 'utf8'), 'PARLEY_DOMAIN=parley.example.com\n')
  const made = join(own, 'secrets')
  const contents = async () => {
    const names = (await readdir(made)).sort()
    return Promise.all(names.map(async (name) => [name, (await readFile(join(made, name), 'utf8')).trim()] as const))
  }
  const first = await contents()
  assert.deepEqual(
    first.map(([name]) => `./secrets/${name}`),
    Object.values<{ file: string }>(secrets)
      .map(({ file }) => file)
      .sort(),
  )
  assert.equal((await stat(made)).mode & 0o777, 0o700)
  assert.ok(loadConfig({ PARLEY_MASTER_KEY: Object.fromEntries(first)['master-key'] }).masterKey)
  await type(make, clone, shellEnvironment({}))
  assert.deepEqual(await contents(), first)
})
