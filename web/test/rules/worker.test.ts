import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'

const program = readFileSync(new URL('../../public/sw.js', import.meta.url), 'utf8')

interface Shown {
  title: string
  tag: string
  icon: string
  data: { url: string }
}

/** Runs the worker in a browser with these pages. */
function workerBeside(pages: { url: string; focused: boolean }[]) {
  const handlers = new Map<string, (event: object) => void>()
  const [shown, opened, told] = [[] as Shown[], [] as string[], [] as string[]]
  const clients = pages.map(({ url, focused }) => ({
    url: `https://parley.example${url}`,
    focused,
    focus: async () => void told.push(`focus ${url}`),
    postMessage: ({ open }: { open: string }) => void told.push(`open ${open}`),
  }))
  const self = {
    addEventListener: (name: string, handler: (event: object) => void) => handlers.set(name, handler),
    clients: { matchAll: async () => clients, openWindow: async (url: string) => void opened.push(url) },
    registration: {
      showNotification: async (title: string, rest: Omit<Shown, 'title'>) => void shown.push({ title, ...rest }),
    },
    navigator: {},
  }
  runInNewContext(program, { self, URL })
  const send = async (name: string, event: object) => {
    const work: Promise<void>[] = []
    handlers.get(name)?.({ ...event, waitUntil: (one: Promise<void>) => work.push(one) })
    await Promise.all(work)
  }
  const notice = { id: 'n1', title: 'Ana mentioned you', body: '', url: '/w/1/inbox/2' }
  return {
    push: async () => {
      await send('push', { data: { json: () => notice } })
      return shown.map(({ title, tag, icon, data }) => ({ title, tag, icon, url: data.url }))
    },
    click: async () => {
      await send('notificationclick', { notification: { close: () => {}, data: { url: notice.url } } })
      return { opened, told }
    },
  }
}

const asShown = [{ title: 'Ana mentioned you', tag: 'n1', icon: '/icon-192.png', url: '/w/1/inbox/2' }]

for (const [name, pages, expected] of [
  ['no page is open', [], asShown],
  ['the app is looked at', [{ url: '/w/1/home', focused: true }], []],
  ['the app is open behind something else', [{ url: '/w/1/home', focused: false }], asShown],
  ['a public form is looked at', [{ url: '/f/demo', focused: true }], asShown],
] as const)
  test(`where ${name}, a push is ${expected.length > 0 ? '' : 'not '}shown`, async () => {
    assert.deepEqual(await workerBeside([...pages]).push(), expected)
  })

test('a click on a notification continues in a page of the app, or opens one', async () => {
  const place = '/w/1/inbox/2'
  assert.deepEqual(await workerBeside([{ url: '/docs', focused: true }]).click(), { opened: [place], told: [] })
  const pages = [
    { url: '/f/demo', focused: true },
    { url: '/w/1/home', focused: false },
  ]
  assert.deepEqual(await workerBeside(pages).click(), { opened: [], told: [`open ${place}`, 'focus /w/1/home'] })
})
