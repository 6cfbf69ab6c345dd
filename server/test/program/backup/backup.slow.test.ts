import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { atEnd } from '../../support/file-end.ts'
import { newFolder } from '../../support/folder.ts'
import { ask, installed, keepWriting, readsEveryFile, started } from '../../support/program/installation.ts'
import { runCommand } from '../../support/program/run-command.ts'
import { mainProgram, newWorkspace, serviceEnvironment, startService } from '../../support/program/service.ts'

const parley = (folder: string, ...args: string[]) => runCommand(args, serviceEnvironment(folder, 1))

test('a backup of a service that is written to restores every write acknowledged before its moment, with all files', async () => {
  const at = await installed()
  const service = await started(at)
  const { key } = await newWorkspace(service.url)
  const writing = keepWriting(service.url, key)
  await writing.more(60)
  const kept = await newFolder()
  const [file, keys] = [join(kept, 'parley.backup'), join(kept, 'parley.keys')]
  const made = await parley(at.folder, 'backup', '--to', file, '--keys', keys, '--json')
  assert.equal(made.exitCode, 0, made.stderr)
  await writing.more(10)
  await writing.stop()
  const { takenAt, files, missingFiles } = JSON.parse(made.stdout)
  assert.ok(files > 0)
  assert.equal(missingFiles, 0)
  const before = writing.acknowledged.filter((one) => one.at < Date.parse(takenAt))
  assert.ok(before.length >= 60)
  for (const path of [file, keys]) assert.equal((await stat(path)).mode & 0o777, 0o600)
  const masterKey = await readFile(join(at.folder, 'master.key'), 'utf8')
  assert.equal((await readFile(keys, 'utf8')).trim(), masterKey.trim())
  const bytes = await readFile(file)
  for (const spelling of [masterKey.trim(), Buffer.from(masterKey.trim(), 'hex')]) assert.ok(!bytes.includes(spelling))
  const again = await parley(at.folder, 'backup', '--to', file)
  assert.equal(again.exitCode, 1)
  assert.match(again.stderr, /is there already/)

  const target = await newFolder()
  const restored = await parley(target, 'restore', '--from', file, '--keys', keys, '--json')
  assert.equal(restored.exitCode, 0, restored.stderr)
  const { proof, files: filesBack } = JSON.parse(restored.stdout)
  assert.deepEqual(proof.findings, [])
  assert.equal(filesBack, files)
  assert.ok(proof.opened > 50)
  assert.equal(await readFile(join(target, 'master.key'), 'utf8'), `${masterKey.trim()}\n`)
  service.kill('SIGTERM')
  await service.gone

  const second = await startService({ ...at, folder: target })
  for (const { code } of before) {
    const found = await ask(second.url, key, `/api/v1/leads/${code}`)
    assert.equal(found.status, 200, code)
    assert.equal(JSON.parse(found.text).data.firstName, 'Ana')
  }
  await readsEveryFile(second.url)
  const full = await parley(target, 'restore', '--from', file, '--keys', keys)
  assert.equal(full.exitCode, 1)
  assert.match(full.stderr, /is not empty \(.*Nothing was changed/)

  // What was restored is an installation like any other: the feed goes on where it was.
  const further = keepWriting(second.url, key, 'later')
  await further.more(3)
  await further.stop()
  const after = await parley(target, 'prove', '--json')
  assert.deepEqual(JSON.parse(after.stdout).findings, [])
  assert.ok(JSON.parse(after.stdout).events >= proof.events + 3)
})

test('a backup that is cut off, altered or of other keys is refused, and leaves the folder as it was', async () => {
  const source = await newFolder()
  assert.equal((await parley(source, 'workspace', 'create', 'Acme')).exitCode, 0)
  const kept = await newFolder()
  const [made, keys] = [join(kept, 'made'), join(source, 'master.key')]
  assert.equal((await parley(source, 'backup', '--to', made)).exitCode, 0)
  const bytes = await readFile(made)
  const alteredAt = (at: number) => {
    const altered = Buffer.from(bytes)
    altered.writeUInt8(altered.readUInt8(at) ^ 1, at)
    return altered
  }
  const [full, empty] = [bytes.indexOf('tables/workspaces/'), bytes.indexOf('tables/key_rotations/')]
  const otherKeys = join(kept, 'other.keys')
  await writeFile(otherKeys, `${'ab'.repeat(32)}\n`)
  const cases: [name: string, bytes: Buffer, keys: string, words: RegExp][] = [
    ['cut in the middle', bytes.subarray(0, bytes.length / 2), keys, /The backup is cut off/],
    ['cut before the end mark', bytes.subarray(0, bytes.indexOf('end-')), keys, /The backup is cut off/],
    ['empty', Buffer.alloc(0), keys, /The backup is cut off/],
    [
      'altered',
      alteredAt(full + 512 + 100),
      keys,
      /The backup was altered: its table workspaces is not as it was written/,
    ],
    ['altered between', alteredAt(empty + 512 + 100), keys, /This is no backup of Parley, or it was altered/],
    ['something else', Buffer.from('hello'.repeat(1000)), keys, /This is no backup of Parley/],
    ['with the keys of another installation', bytes, otherKeys, /is sealed by master key [0-9a-f]{8}/],
  ]
  for (const [name, content, keysFile, words] of cases) {
    const file = join(kept, 'tried')
    await writeFile(file, content)
    const folder = join(kept, 'data')
    await mkdir(folder, { recursive: true })
    const { exitCode, stderr } = await parley(folder, 'restore', '--from', file, '--keys', keysFile)
    assert.equal(exitCode, 1, name)
    assert.match(stderr, words, name)
    assert.deepEqual(
      (await readdir(folder)).filter((one) => one !== 'parley.lock'),
      [],
      name,
    )
  }
})

test('a backup that is killed half-way is refused, and the service goes on; the next one is whole, by pipes', async () => {
  const at = await installed()
  const service = await started(at)
  const { key } = await newWorkspace(service.url)
  const writing = keepWriting(service.url, key)
  await writing.more(600)
  const child = spawn(process.execPath, [mainProgram, 'backup', '--to', '-'], {
    env: serviceEnvironment(at.folder, 1),
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
  await writing.more(10)
  await writing.stop()
  const kept = await newFolder()
  const half = join(kept, 'half')
  await writeFile(half, Buffer.concat(pieces))
  const keys = join(at.folder, 'master.key')
  const refused = await parley(join(kept, 'data'), 'restore', '--from', half, '--keys', keys)
  assert.equal(refused.exitCode, 1)
  assert.match(refused.stderr, /The backup is cut off/)
  service.kill('SIGTERM')
  await service.gone

  // Without a service, from one program to another.
  const target = join(kept, 'restored')
  const line = '"$0" "$1" backup --to - | PARLEY_DATA_DIR="$2" "$0" "$1" restore --from - --keys "$3" --json'
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-o', 'pipefail', '-c', line, process.execPath, mainProgram, target, keys],
    { env: serviceEnvironment(at.folder, 1) },
  )
  assert.deepEqual(JSON.parse(stdout).proof.findings, [])
  const second = await startService({ ...at, folder: target })
  const codes = writing.acknowledged.map(({ code }) => code)
  for (const code of [codes[0], codes.at(-1)]) {
    assert.equal((await ask(second.url, key, `/api/v1/leads/${code}`)).status, 200)
  }
})

test('a restore that is killed leaves a folder that no service takes for an empty one', async () => {
  const at = await installed()
  const made = await parley(at.folder, 'workspace', 'create', 'Acme')
  assert.equal(made.exitCode, 0, made.stderr)
  const kept = await newFolder()
  const [file, target] = [join(kept, 'parley.backup'), join(kept, 'data')]
  assert.equal((await parley(at.folder, 'backup', '--to', file)).exitCode, 0)
  // It waits for the rest of what it is given.
  const child = spawn(
    process.execPath,
    [mainProgram, 'restore', '--from', '-', '--keys', join(at.folder, 'master.key')],
    {
      env: serviceEnvironment(target, 1),
      stdio: ['pipe', 'ignore', 'pipe'],
    },
  )
  atEnd(async () => void child.kill('SIGKILL'))
  child.stdin.write((await readFile(file)).subarray(0, 100_000))
  while (!existsSync(join(target, 'restoring', 'postgres'))) await once(child.stderr, 'data')
  child.kill('SIGKILL')
  await once(child, 'close')
  const refused = await parley(target, 'workspace', 'list')
  assert.equal(refused.exitCode, 1)
  assert.match(refused.stderr, /A restore into .* was cut off/)
})
