import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { atEnd, oncePerFile } from '../../support/file-lifecycle.ts'
import { newFolder } from '../../support/folder.ts'
import { startCallers } from '../../support/program/callers.ts'
import { readsEveryFile, startDemo } from '../../support/program/installation.ts'
import { runCommandInProcess } from '../../support/program/run-command.ts'
import { ask, mainProgram, newWorkspace, serviceEnvironment, startService } from '../../support/program/service.ts'

const parley = (folder: string, ...args: string[]) => runCommandInProcess(args, serviceEnvironment(folder, 1))

/** A service with the demo that is written to, for the first two tests: the second one stops it. */
const source = oncePerFile(async () => {
  const service = await startDemo()
  const { key } = await newWorkspace(service.url)
  const callers = startCallers({ url: service.url, key })
  await callers.more(60)
  return { service, key, callers }
})

test('a backup during writes restores every write acknowledged before its snapshot, with all files', async () => {
  const { service, key, callers } = await source()
  const kept = await newFolder()
  const [file, keys] = [join(kept, 'parley.backup'), join(kept, 'parley.keys')]
  const made = await parley(service.folder, 'backup', '--to', file, '--keys', keys, '--json')
  assert.equal(made.exitCode, 0, made.stderr)
  await callers.more(10)
  const { takenAt, files, missingFiles } = JSON.parse(made.stdout)
  assert.ok(files > 0)
  assert.equal(missingFiles, 0)
  const before = callers.written.filter((one) => one.at < Date.parse(takenAt))
  assert.ok(before.length >= 60)
  for (const path of [file, keys]) assert.equal((await stat(path)).mode & 0o777, 0o600)
  const masterKey = await readFile(join(service.folder, 'master.key'), 'utf8')
  assert.equal((await readFile(keys, 'utf8')).trim(), masterKey.trim())
  const bytes = await readFile(file)
  for (const spelling of [masterKey.trim(), Buffer.from(masterKey.trim(), 'hex')]) assert.ok(!bytes.includes(spelling))
  const again = await parley(service.folder, 'backup', '--to', file)
  assert.equal(again.exitCode, 1)
  assert.match(again.stderr, /already exists/)

  const target = await newFolder()
  const restored = await parley(target, 'restore', '--from', file, '--keys', keys, '--json')
  assert.equal(restored.exitCode, 0, restored.stderr)
  const { proof, files: filesBack } = JSON.parse(restored.stdout)
  assert.deepEqual(proof.findings, [])
  assert.equal(filesBack, files)
  assert.ok(proof.opened > 50)
  assert.equal(await readFile(join(target, 'master.key'), 'utf8'), `${masterKey.trim()}\n`)

  const second = await startService({ folder: target })
  for (const { code } of before) {
    const { status, body } = await ask(second.url, key, `GET /api/v1/leads/${code}`)
    assert.deepEqual([status, body.data?.firstName], [200, 'Ana'], code)
  }
  await readsEveryFile(second.url)
  const full = await parley(target, 'restore', '--from', file, '--keys', keys)
  assert.equal(full.exitCode, 1)
  assert.match(full.stderr, /is not empty \(.*Nothing was changed/)
  await second.stop()
})

test('a killed backup is refused, and the service continues; the next one, through pipes, is complete', async () => {
  const { service, callers } = await source()
  // More than fits into a pipe.
  await callers.more(500)
  const child = spawn(process.execPath, [mainProgram, 'backup', '--to', '-'], {
    env: serviceEnvironment(service.folder, 1),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  atEnd(async () => void child.kill('SIGKILL'))
  const pieces: Buffer[] = []
  pieces.push((await once(child.stdout, 'data'))[0])
  // Nobody reads on: it waits in the midst of it.
  pieces.push((await once(child.stdout, 'data'))[0])
  child.stdout.pause()
  child.kill('SIGKILL')
  child.stdout.on('data', (piece) => pieces.push(piece)).resume()
  await once(child, 'close')
  await callers.more(10)
  await callers.stop()
  assert.deepEqual(callers.faults, [])
  const kept = await newFolder()
  const half = join(kept, 'half')
  await writeFile(half, Buffer.concat(pieces))
  const keys = join(service.folder, 'master.key')
  const refused = await parley(join(kept, 'data'), 'restore', '--from', half, '--keys', keys)
  assert.equal(refused.exitCode, 1)
  assert.match(refused.stderr, /The backup is truncated/)
  await service.stop()

  // Without a service, from one program to another.
  const target = join(kept, 'restored')
  const line = '"$0" "$1" backup --to - | PARLEY_DATA_DIR="$2" "$0" "$1" restore --from - --keys "$3" --json'
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-o', 'pipefail', '-c', line, process.execPath, mainProgram, target, keys],
    { env: serviceEnvironment(service.folder, 1) },
  )
  const { proof } = JSON.parse(stdout)
  assert.deepEqual(proof.findings, [])
  assert.ok(proof.events >= callers.written.length)
})

/** The data folder and a backup of a small installation. */
const small = oncePerFile(async () => {
  const folder = await newFolder()
  const made = await parley(folder, 'workspace', 'create', 'Acme')
  assert.equal(made.exitCode, 0, made.stderr)
  const file = join(await newFolder(), 'made')
  assert.equal((await parley(folder, 'backup', '--to', file)).exitCode, 0)
  return { bytes: await readFile(file), keys: join(folder, 'master.key') }
})

test('a backup that is truncated, altered or has other keys is refused, and the folder is unchanged', async () => {
  const { bytes, keys } = await small()
  const kept = await newFolder()
  const alteredAt = (at: number) => {
    const altered = Buffer.from(bytes)
    altered.writeUInt8(altered.readUInt8(at) ^ 1, at)
    return altered
  }
  const [full, empty] = [bytes.indexOf('tables/workspaces/'), bytes.indexOf('tables/key_rotations/')]
  const otherKeys = join(kept, 'other.keys')
  await writeFile(otherKeys, `${'ab'.repeat(32)}\n`)
  const altered = /The backup was altered: its table workspaces does not match its digest/
  const cases: [name: string, bytes: Buffer, words: RegExp, keys?: string][] = [
    ['cut in the middle', bytes.subarray(0, bytes.length / 2), /The backup is truncated/],
    ['cut before the end mark', bytes.subarray(0, bytes.indexOf('end-')), /The backup is truncated/],
    ['empty', Buffer.alloc(0), /The backup is truncated/],
    ['altered', alteredAt(full + 512 + 100), altered],
    ['altered between', alteredAt(empty + 512 + 100), /This is not a Parley backup, or it was altered/],
    ['something else', Buffer.from('hello'.repeat(1000)), /This is not a Parley backup/],
    ['with the keys of another installation', bytes, /is encrypted with master key [0-9a-f]{8}/, otherKeys],
  ]
  for (const [name, content, words, keysFile = keys] of cases) {
    const file = join(kept, 'tried')
    await writeFile(file, content)
    const folder = join(kept, 'data')
    await mkdir(folder, { recursive: true })
    const { exitCode, stderr } = await parley(folder, 'restore', '--from', file, '--keys', keysFile)
    assert.equal(exitCode, 1, name)
    assert.match(stderr, words, name)
    const left = (await readdir(folder)).filter((one) => one !== 'parley.lock')
    assert.deepEqual(left, [], name)
  }
})

test('a killed restore leaves a folder that no service treats as empty', async () => {
  const { bytes, keys } = await small()
  const target = join(await newFolder(), 'data')
  // It waits for the rest of what it is given.
  const child = spawn(process.execPath, [mainProgram, 'restore', '--from', '-', '--keys', keys], {
    env: serviceEnvironment(target, 1),
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  atEnd(async () => void child.kill('SIGKILL'))
  child.stdin.write(bytes.subarray(0, 100_000))
  while (!existsSync(join(target, 'restoring', 'postgres'))) await once(child.stderr, 'data')
  child.kill('SIGKILL')
  await once(child, 'close')
  const refused = await parley(target, 'workspace', 'list')
  assert.equal(refused.exitCode, 1)
  assert.match(refused.stderr, /A restore into .* was cut off/)
})
