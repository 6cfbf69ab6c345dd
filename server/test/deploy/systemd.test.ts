import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { loadSettings } from '../support/deploy/settings.ts'
import { newFolder } from '../support/folder.ts'

const folder = fileURLToPath(new URL('../../../deploy/systemd', import.meta.url))
const units = ['parley.service', 'parley@.service']
const highestExposure = 3

interface Line {
  name: string
  value: string
}

function linesOf(unit: string): Line[] {
  const text = readFileSync(join(folder, unit), 'utf8')
  return [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => ({ name, value }))
}

const valuesOf = (unit: string, name: string) =>
  linesOf(unit).flatMap((line) => (line.name === name ? line.value.split(' ') : []))

const hasAnalyze = (() => {
  try {
    execFileSync('systemd-analyze', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
const skip = hasAnalyze ? false : 'systemd-analyze is missing: apt-get install systemd'

for (const unit of units) {
  test(`${unit} has a low exposure level`, { skip }, async () => {
    const { stdout } = await promisify(execFile)('systemd-analyze', ['security', '--offline=true', join(folder, unit)])
    const exposure = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1])
    assert.ok(exposure <= highestExposure, `${unit}: ${exposure}`)
  })

  test(`systemd accepts ${unit}`, { skip }, async () => {
    const own = join(await newFolder(), unit.replace('@', '@api'))
    await cp(join(folder, unit), own)
    const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', own]).catch((error) => error)
    // Ignores which programs are installed on this machine.
    const told = stderr.split('\n').filter((line: string) => line !== '' && !/is not executable/.test(line))
    assert.deepEqual(told, [])
  })

  test(`the service knows the settings of ${unit}, and their secrets are passed as credentials`, async () => {
    const env = Object.fromEntries(valuesOf(unit, 'Environment').map((word) => word.split('=')))
    const handed = valuesOf(unit, 'LoadCredential').map((word) => `%d/${word.split(':')[0]}`)
    const files = Object.entries<string>(env).filter(([name]) => name.endsWith('_FILE'))
    assert.deepEqual(files.map(([, path]) => path).sort(), handed.sort())
    const filled = Object.entries<string>(env).map(([name, value]) => [name, value.replace('%S', '/var/lib')])
    const config = await loadSettings(Object.fromEntries(filled))
    assert.equal(config.demo, false)
    const states = valuesOf(unit, 'StateDirectory').map((name) => `/var/lib/${name}`)
    assert.ok(states.includes(config.dataFolder))
    assert.ok(
      config.media.kind === 'folder' &&
        states.some((state) => `${config.media.kind === 'folder' && config.media.folder}/`.startsWith(`${state}/`)),
    )
  })
}

test('both units have the same sandbox', () => {
  const walls = (unit: string) => {
    const lines = linesOf(unit)
    return lines.slice(lines.findIndex(({ name }) => name === 'Restart'))
  }
  assert.ok(walls('parley.service').length > 30)
  assert.deepEqual(walls('parley@.service'), walls('parley.service'))
})

test('every deployment gives the service the same time to stop', () => {
  const read = (name: string) => readFileSync(join(folder, '..', name), 'utf8')
  const seconds = [
    ...units.map((unit) => valuesOf(unit, 'TimeoutStopSec')[0]),
    /stop_grace_period: (\d+)s/.exec(read('compose/compose.yaml'))?.[1],
    ...['api', 'worker'].map((part) => /GracePeriodSeconds: (\d+)/.exec(read(`kubernetes/${part}.yaml`))?.[1]),
  ]
  assert.deepEqual(new Set(seconds), new Set(['60']))
})
