import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { chromium } from 'playwright-core'
import { build } from 'vite'
import { clientFolder, complaints, installedClient, runtimes } from '../support/client/built-client.ts'
import { type ClientWorld, clientWorld } from '../support/client/client-world.ts'
import { oncePerFile } from '../support/file-end.ts'

/** The programs of the README, in the order in which they stand there. */
async function programs(): Promise<string[]> {
  const readme = await readFile(join(clientFolder, 'README.md'), 'utf8')
  return [...readme.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, program = '']) => program)
}

async function writtenTo(folder: string): Promise<{ file: string; program: string }[]> {
  const all = (await programs()).map((program, i) => ({ file: `readme-${i}.js`, program: `${program}\nexport {}\n` }))
  for (const { file, program } of all) await writeFile(join(folder, file), program)
  return all
}

/** What a program says that it prints, in comments that begin so. */
const promised = (program: string): string[] =>
  [...program.matchAll(/\/\/ → (.*)$/gm)].map(([, line = '']) => line.trimEnd())

async function ran(runtime: string[], folder: string, file: string, env: Record<string, string>): Promise<string[]> {
  const [command = '', ...words] = runtime
  const child = spawn(command, [...words, file], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  assert.equal(stderr, '', file)
  return stdout.split('\n').filter((line) => line !== '')
}

const environmentOf = ({ url, agent }: ClientWorld) => ({ PARLEY_URL: url, PARLEY_API_KEY: agent.value })

test('the programs of the README do what they say, on every runtime that is here', async () => {
  const folder = await installedClient()
  const all = await writtenTo(folder)
  const [beginning] = all
  assert.ok(beginning !== undefined && all.length >= 5)
  for (const runtime of await runtimes()) {
    for (const { file, program } of all) {
      const w = await clientWorld()
      await w.customerWrites('Do you ship to Recife?')
      // What the feed tells of is made by the first program.
      if (program.includes('events.follow')) await ran(runtime, folder, beginning.file, environmentOf(w))
      assert.deepEqual(await ran(runtime, folder, file, environmentOf(w)), promised(program), `${runtime} ${program}`)
    }
  }
})

test('the programs of the README and the examples compile, and all types are known to the last field', async () => {
  const folder = await installedClient()
  const names = (await writtenTo(folder)).map(({ file }) => file)
  const examples = (await readdir(join(folder, 'examples'))).map((name) => join('examples', name))
  assert.equal(await complaints(folder, [...names, ...examples, join('test', 'typed-calls.ts')]), '')
})

/** The package in one file, as a page would load it. */
const bundled = oncePerFile(async (): Promise<string> => {
  const folder = await installedClient()
  await writeFile(join(folder, 'page.js'), `export * from '@parley/client'\n`)
  const bundle = await build({
    root: folder,
    logLevel: 'error',
    configFile: false,
    build: { write: false, target: 'es2022', minify: true, lib: { entry: 'page.js', formats: ['es'] } },
  })
  const [{ output }] = bundle as unknown as [{ output: { code: string }[] }]
  return output[0]?.code ?? ''
})

test('a bundle for browsers has nothing of Node in it, and is as small as the README says', async () => {
  const code = await bundled()
  assert.doesNotMatch(code, /\bimport\b|\brequire\(|\bBuffer\b/)
  const bytes = gzipSync(code).length
  const [, said = ''] = /(\d+(?:\.\d+)?) KB/.exec(await readFile(join(clientFolder, 'README.md'), 'utf8')) ?? []
  assert.ok(bytes <= Number(said) * 1024 && bytes > (Number(said) - 1) * 1024, `${bytes} bytes, said to be ${said} KB`)
})

test('a page of the same origin reads, sends and verifies by it', async () => {
  const w = await clientWorld()
  await w.customerWrites('Do you ship to Recife?')
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  try {
    const page = await (await browser.newContext({ bypassCSP: true })).newPage()
    await page.goto(`${w.url}/api/v1/events`)
    const given = { code: await bundled(), baseUrl: w.url, apiKey: w.agent.value }
    const told = await page.evaluate(inPage, given)
    assert.deepEqual(told, ['Do you ship to Recife?', 'sent', 'WebhookVerificationError'])
  } finally {
    await browser.close()
  }
})

/** Runs in the browser, where nothing of this file is known. */
async function inPage({ code, baseUrl, apiKey }: { code: string; baseUrl: string; apiKey: string }): Promise<string[]> {
  const { Parley, verifyWebhook } = await import(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })))
  const parley = new Parley({ baseUrl, apiKey })
  const [conversation] = await parley.inbox.conversations().take(1)
  const [message] = await parley.inbox.messages(conversation.id).take(1)
  const { status } = await parley.inbox.send(conversation.id, 'We do.')
  const headers = {
    'webhook-id': 'a',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': 'v1,AAAA',
  }
  const refused = await verifyWebhook({ headers, body: '{}', secret: 'whsec_AAAA' }).catch((error: Error) => error)
  return [message.text, status, refused.name]
}
