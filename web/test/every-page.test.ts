import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { issuesInSchemes, openDemo, visitOf } from './support/demo.ts'

const demo = await openDemo()
const workspace = `/workspaces/${demo.workspaceId}`

const post = (path: string, body: object) => demo.team('POST', `${workspace}${path}`, body)
await post('/labels', { name: 'Urgent', color: 'red' })
await post('/canned-replies', { shortcut: 'hi', text: 'Hello {{contact.name}}' })
const { url: invitation } = await post('/invitations', { email: 'gil@example.com', role: 'admin' })
const { endpoint } = await post('/webhooks', { url: 'https://hooks.example.com/parley', events: ['lead.*'] })
const { conversations } = await demo.team('GET', `${workspace}/inbox/conversations?limit=1`)
const { leads } = await demo.team('GET', `${workspace}/leads?limit=1`)
const { forms } = await demo.team('GET', `${workspace}/forms`)
const { connections } = await demo.team('GET', `${workspace}/connections`)
const [conversation, lead, form, connection] = [conversations[0].id, leads[0].id, forms[0].id, connections[0].id]
await demo.team('POST', `${workspace}/inbox/conversations/${conversation}/take-over`, {})

type Open = (page: Page) => Promise<unknown>
interface Stop {
  place: string
  /** What says that the page stands. */
  stands: (page: Page) => Locator
  /** What opens over it, each closed by Escape. */
  overlays?: Record<string, Open>
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 })
const button =
  (name: string | RegExp): Open =>
  (page) =>
    page.getByRole('button', { name, exact: true }).first().click()
const key =
  (keys: string): Open =>
  (page) =>
    page.keyboard.press(keys)
const inOrder =
  (...steps: Open[]): Open =>
  async (page) => {
    for (const step of steps) await step(page)
  }
const item =
  (name: string): Open =>
  (page) =>
    page.getByRole('menuitem', { name }).click()
const way = (name: RegExp): Open =>
  inOrder(button('Connect a number'), (page) => page.getByRole('dialog').getByRole('button', { name }).click())

const settings = [
  'workspace',
  'members',
  'labels',
  'replies',
  'filters',
  'agents',
  'tokens',
  'retention',
  'audit',
  'workspaces',
  'about',
]
const more: Record<string, Stop['overlays']> = {
  members: { invite: button('Invite a person') },
  labels: { new: button('New label') },
  replies: { new: button('New reply') },
  tokens: { new: button('New token') },
  workspaces: { new: button('New workspace') },
}

const stops: Stop[] = [
  {
    place: 'home',
    stands: heading,
    overlays: {
      palette: key('Control+k'),
      keys: key('?'),
      me: (page) => page.getByRole('button', { name: /^You/ }).click(),
    },
  },
  { place: 'inbox', stands: (page) => page.getByRole('listitem').first() },
  {
    place: `inbox/${conversation}`,
    stands: (page) => page.getByRole('textbox', { name: /^Reply to/ }),
    overlays: {
      assign: key('a'),
      label: key('l'),
      snooze: key('z'),
      'hand-back': key('h'),
      filters: button('Filter and sort'),
      mentions: button('Mentions'),
      selection: key('x'),
      search: key('/'),
      note: key('n'),
      templates: button('Template'),
    },
  },
  {
    place: 'leads',
    stands: (page) => page.locator('[data-row="0"]').getByRole('button').first(),
    overlays: {
      new: key('c'),
      filter: key('f'),
      columns: button('Columns'),
      views: button('Saved views'),
      selection: inOrder(key('j'), key('x')),
    },
  },
  { place: `leads?lead=${lead}`, stands: (page) => page.getByRole('complementary', { name: /^Lead / }) },
  { place: `leads/${lead}`, stands: (page) => page.getByRole('region', { name: 'Timeline' }) },
  { place: 'leads?view=board', stands: (page) => page.getByRole('region', { name: 'Leads: New' }) },
  { place: 'leads?view=trash', stands: heading },
  { place: 'leads/import', stands: heading },
  { place: 'leads/export', stands: heading },
  { place: 'forms', stands: (page) => page.getByRole('table') },
  {
    place: `forms/${form}`,
    stands: (page) => page.getByRole('button', { name: 'Add a field' }),
    overlays: { more: button('More') },
  },
  { place: `forms/${form}?view=share`, stands: heading },
  { place: `forms/${form}?view=submissions`, stands: heading },
  {
    place: 'connections',
    stands: (page) => page.getByRole('table'),
    overlays: {
      ways: button('Connect a number'),
      official: way(/Official platform/),
      partner: way(/Partner/),
      phone: way(/Phone by QR code/),
    },
  },
  {
    place: `connections/${connection}`,
    stands: (page) => page.getByRole('region', { name: 'Details' }),
    overlays: {
      settings: inOrder(button('More'), item('Change settings')),
      remove: inOrder(button('More'), item('Remove')),
    },
  },
  {
    place: 'keys',
    stands: (page) => page.getByRole('table'),
    overlays: { new: button('New key'), one: (page) => page.getByRole('table').getByRole('button').first().click() },
  },
  { place: 'webhooks', stands: (page) => page.getByRole('table'), overlays: { new: button('New webhook') } },
  {
    place: `webhooks/${endpoint.id}`,
    stands: heading,
    overlays: {
      test: button('Send a test event'),
      change: inOrder(button('More'), item('Edit')),
      more: button('More'),
    },
  },
  ...settings.map(
    (name): Stop => ({ place: `settings/${name}`, stands: heading, ...(more[name] && { overlays: more[name] }) }),
  ),
  { place: 'profile', stands: (page) => page.getByRole('list', { name: 'Where you are signed in' }) },
  { place: 'nowhere', stands: (page) => page.getByRole('heading') },
]

/** What opens within the page rather than over it. */
const inPlace = new Set(['search', 'note', 'templates', 'selection'])
const over = (page: Page) => page.locator('[role=dialog], [role=menu]').filter({ visible: true })

for (const { place, stands, overlays = {} } of stops) {
  const shown = place.replace(/[0-9a-f-]{36}/, '…')
  test(`nothing of ${shown}, light or dark, has a fault that axe knows`, async () => {
    const { page } = await demo.open(place)
    const found: string[] = []
    const look = async (name: string) =>
      void found.push(...(await issuesInSchemes(page, `every-${name.replace(/[^a-z0-9]+/gi, '-')}`)))
    const address = `${demo.url}/w/${demo.workspaceId}/${place}`
    const arrive = async () => {
      await page.goto(address)
      await stands(page).waitFor()
    }
    await stands(page).waitFor()
    await look(shown)
    for (const [name, open] of Object.entries(overlays)) {
      await open(page)
      if (!inPlace.has(name)) await over(page).first().waitFor()
      await look(`${shown} ${name}`)
      await page.keyboard.press('Escape')
      if (inPlace.has(name)) await arrive()
      else await over(page).first().waitFor({ state: 'detached' })
      if (page.url() !== address) await arrive()
    }
    assert.deepEqual([...new Set(found)], [])
  })
}

test('no page for strangers, light or dark, has a fault that axe knows', async () => {
  const { page } = await visitOf(demo.browser, {})
  const { url } = await demo.team('POST', '/sign-in-links', { email: 'owner@example.com' }).catch(() => ({ url: null }))
  const places = ['/sign-in', new URL(invitation).pathname, '/sign-in/nothing', ...(url ? [new URL(url).pathname] : [])]
  for (const place of places) {
    await page.goto(`${demo.url}${place}`)
    await page.getByRole('heading').first().waitFor()
    assert.deepEqual(await issuesInSchemes(page, `every ${place.split('/')[1]}`), [])
  }
})
