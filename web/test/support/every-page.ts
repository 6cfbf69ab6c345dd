import type { Locator, Page } from 'playwright-core'
import { overlays } from './accessibility.ts'
import { newWriter } from './composing.ts'
import type { Demo } from './demo.ts'

type Open = (page: Page) => Promise<unknown>
export interface Stop {
  place: string
  /** Visible when the page is ready. */
  isReady: (page: Page) => Locator
  /** Layers over the page, each closed by Escape. */
  overlays?: Record<string, Open>
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 })
/** The empty state, or the list if another test of the same demo has added to it. */
const emptyOr = (page: Page, empty: string, list: Locator) => page.getByRole('heading', { name: empty }).or(list)
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
const option =
  (name: string): Open =>
  (page) =>
    page.getByRole('option', { name }).waitFor()
const text =
  (words: string | RegExp): Open =>
  (page) =>
    page.getByText(words).first().waitFor()
/** Snoozing until a past time, which is refused. */
const snoozePast: Open = async (page) => {
  const dialog = page.getByRole('dialog', { name: 'Snooze' })
  await page.keyboard.press('z')
  await dialog.locator('input[type=datetime-local]').fill('2020-01-01T08:00')
  await dialog.getByRole('button', { name: 'Snooze until this time', exact: true }).click()
  await dialog.getByRole('alert').waitFor()
}
const demoKey: Open = inOrder(
  (page) => page.getByRole('table').getByRole('button', { name: 'Demo key' }).click(),
  text('/api/v1/leads'),
)
const bulkDialog = inOrder(
  ...['j', 'x', 'j', 'x'].map(key),
  (page) => page.getByRole('region', { name: '2 selected' }).getByRole('button', { name: 'Source' }).click(),
  item('Event'),
  text('Change 2 leads?'),
)
const linkOrButton = (name: RegExp): Open =>
  inOrder(button('Add connection'), (page) => page.getByRole('dialog').getByRole('button', { name }).click())

const settings = [
  'workspace',
  'hours',
  'routing',
  'members',
  'fields',
  'labels',
  'replies',
  'filters',
  'satisfaction',
  'sources',
  'agents',
  'instructions',
  'tokens',
  'retention',
  'audit',
  'workspaces',
  'sso',
  'about',
]
const more: Record<string, Stop['overlays']> = {
  sso: { add: button('Add provider') },
  sources: { add: button('Add source') },
  members: {
    invite: button('Invite member'),
    again: button('Copy link for gil@example.com'),
  },
  routing: { new: button('New team') },
  fields: { new: button('New field') },
  labels: { new: button('New label') },
  replies: { new: button('New saved reply') },
  tokens: { new: button('New team token') },
  instructions: {
    preview: inOrder(button('Preview'), text('Exact answers')),
    compare: button('Compare version 1'),
  },
  audit: {
    who: inOrder((page) => page.getByRole('combobox', { name: 'Actor' }).click(), option('Parley')),
    what: inOrder((page) => page.getByRole('combobox', { name: 'Action' }).click(), option('Labels')),
    nothing: inOrder((page) => page.getByLabel('Until').fill('2020-01-01'), text('No entries match these filters.')),
  },
  workspaces: { new: button('New workspace') },
}

const name = { from: 'field', value: 'firstName', fallback: 'there' }
const broadcastDraft = (connectionId: string) => ({
  ...{ name: 'Every page', connectionId, audience: { filter: {}, viewName: null } },
  variants: [
    {
      template: { name: 'order_update', language: 'en' },
      ...{ weight: 1, body: [name, name], header: null, buttons: [] },
    },
  ],
  options: { quietDays: 0, optInOnly: false, perMinute: null },
})

/** Adds data for every page of the demo, and returns all paths of the app with their layers. */
export async function everyPage(demo: Demo): Promise<{ stops: Stop[]; forStrangers: string[] }> {
  const workspace = `/workspaces/${demo.workspaceId}`
  const read = (path: string) => demo.team('GET', `${workspace}${path}`)
  const post = (path: string, body: object) => demo.team('POST', `${workspace}${path}`, body)
  await post('/labels', { name: 'Every page', color: 'red' })
  await demo.team('PATCH', workspace, { agentWord: 'You speak for a shoe shop.' })
  await post('/canned-replies', { shortcut: 'every', text: 'Hello {{contact.name}}' })
  const { url: invitation } = await post('/invitations', { email: 'gil@example.com', role: 'admin' })
  const { endpoint } = await post('/webhooks', { url: 'https://hooks.example.com/parley', events: ['lead.*'] })
  const { conversations } = await read('/inbox/conversations?limit=100')
  const { leads } = await read('/leads?limit=1')
  const { forms } = await read('/forms')
  const { connections } = await read('/connections')
  // The demo's oldest conversation, so that other tests do not change it: ids are in order of creation.
  const [conversation = ''] = conversations.map(({ id }: { id: string }) => id).sort()
  const [lead, connection] = [leads[0].id, connections[0].id]
  const { id: form } = forms.find(({ name }: { name: string }) => name === 'Demo form')
  await post(`/inbox/conversations/${conversation}/take-over`, {})
  const ofAgent = await newWriter(demo, 'Agata Nunes', 'Is it in stock?', 'agent')
  const fields = [
    { key: 'firstName', label: 'Your name', type: 'text', required: true },
    { key: 'terms', label: 'I agree', type: 'boolean', required: false },
  ]
  const { form: visits } = await post('/forms', { name: 'Every page', title: 'Book a visit', fields })
  await demo.call('POST', `/f/${visits.slug}`, { firstName: 'Marina', terms: true })
  await demo.call('GET', '/api/v1/leads?limit=1', undefined, { authorization: `Bearer ${demo.apiKey}` })
  const official = connections.find(({ channel }: { channel: string }) => channel === 'waba')
  await post('/scenarios/starter-set', {})
  const { draft } = await post('/template-drafts', { connectionId: official.id })
  const { broadcast } = await post('/broadcasts', broadcastDraft(official.id))
  const about = { kind: 'article', language: 'en', title: 'How do I return something?', body: 'Within **30 days**.' }
  const { article } = await post('/knowledge/articles', { ...about, status: 'published' })
  const { members } = await read('/members')
  const { userId, email } = members.find(({ name }: { name: string }) => name === 'Demo Owner')
  const { url: signInLink } = await demo.team('POST', '/sign-in-links', { email })
  await post(`/inbox/conversations/${conversation}/notes`, { text: '@Demo Owner please call', mentions: [userId] })
  const stops: Stop[] = [
    {
      place: 'home',
      isReady: heading,
      overlays: {
        palette: key('Control+k'),
        keys: key('?'),
        bell: inOrder(key('g'), key('n'), text('Notification settings')),
        me: (page) => page.getByRole('button', { name: /^You/ }).click(),
      },
    },
    { place: 'inbox', isReady: (page) => page.getByRole('listitem').first() },
    {
      place: 'inbox?search=plano',
      isReady: (page) => page.getByRole('region', { name: 'Results' }).locator('mark').first(),
    },
    {
      place: `inbox/${conversation}`,
      isReady: (page) => page.getByRole('textbox', { name: /^(Reply to|Note for the team)/ }),
      overlays: {
        assign: key('a'),
        label: key('l'),
        snooze: key('z'),
        'snooze-past': snoozePast,
        'hand-back': key('h'),
        // Where an earlier walk has left a note.
        knowledge: inOrder(key('r'), button('Search knowledge')),
        filters: button('Filter and sort'),
        mentions: inOrder(button(/^Mentions/), text('please call')),
        selection: key('x'),
        search: key('/'),
        templates: button('Template'),
        // The last one, since a conversation keeps its note mode.
        note: key('n'),
      },
    },
    { place: ofAgent.place, isReady: (page) => page.getByText(/^Handled by (?!your team)/) },
    {
      place: 'leads',
      isReady: (page) => page.locator('[data-row="0"]').getByRole('button').first(),
      overlays: {
        new: key('c'),
        filter: key('f'),
        columns: button('Columns'),
        selection: inOrder(key('j'), key('x')),
        'bulk-ask': bulkDialog,
        'bulk-done': inOrder(bulkDialog, button('Change 2 leads'), text(/\d leads changed\./)),
      },
    },
    { place: `leads?lead=${lead}`, isReady: (page) => page.getByRole('complementary', { name: /^Lead / }) },
    {
      place: 'leads?status=new',
      isReady: (page) => page.getByRole('button', { name: 'Status is New', exact: true }),
      overlays: { save: button('Save this view') },
    },
    { place: `leads/${lead}`, isReady: (page) => page.getByRole('region', { name: 'Timeline' }) },
    { place: 'leads?view=board', isReady: (page) => page.getByRole('region', { name: 'Leads: New' }) },
    { place: 'leads?view=trash', isReady: heading },
    { place: 'leads/changes', isReady: (page) => page.getByRole('row', { name: /Source: Event/ }).first() },
    { place: 'leads/import', isReady: heading },
    { place: 'leads/export', isReady: heading },
    { place: 'forms', isReady: (page) => page.getByRole('table') },
    {
      place: `forms/${form}`,
      isReady: (page) => page.getByRole('button', { name: 'Add field' }),
      overlays: {
        field: (page) => page.getByRole('button', { name: 'Edit First name' }).click(),
        more: button('More'),
        thanks: (page) => page.getByRole('region', { name: 'Preview' }).getByText('Thank-you message').click(),
      },
    },
    { place: `forms/${form}?view=share`, isReady: heading },
    { place: `forms/${form}?view=submissions`, isReady: heading },
    { place: `forms/${visits.id}?view=submissions`, isReady: (page) => page.getByRole('row', { name: /Marina/ }) },
    {
      place: 'connections',
      isReady: (page) => page.getByRole('table'),
      overlays: {
        ways: button('Add connection'),
        official: linkOrButton(/WhatsApp Business Platform/),
        partner: linkOrButton(/Partner/),
        phone: linkOrButton(/Phone by QR code/),
      },
    },
    {
      place: `connections/${connection}`,
      isReady: (page) => page.getByRole('region', { name: 'Details' }),
      overlays: {
        settings: inOrder(button('More'), item('Edit settings')),
        remove: inOrder(button('More'), item('Remove')),
      },
    },
    {
      place: 'keys',
      isReady: (page) => page.getByRole('table'),
      overlays: {
        new: button('New API key'),
        calls: demoKey,
        rotate: inOrder(demoKey, button('Rotate')),
        revoke: inOrder(demoKey, button('Revoke')),
        edit: inOrder(demoKey, button('Edit')),
      },
    },
    { place: 'keys/connect', isReady: (page) => page.getByText('Waiting for you to allow access') },
    { place: 'costs', isReady: heading },
    {
      place: 'reports',
      isReady: (page) => page.getByRole('region', { name: 'Saved reports' }),
      overlays: { save: button('Save this report') },
    },
    {
      place: 'tasks',
      isReady: (page) => emptyOr(page, 'You have no open tasks', page.getByRole('list', { name: 'Tasks' })),
      overlays: { new: button('New task') },
    },
    { place: 'broadcasts', isReady: (page) => page.getByRole('table', { name: 'Broadcasts' }) },
    { place: 'broadcasts/new', isReady: (page) => page.getByRole('textbox', { name: 'Name' }) },
    { place: `broadcasts/${broadcast.id}`, isReady: (page) => page.getByRole('button', { name: 'Count audience' }) },
    {
      place: 'sequences',
      isReady: (page) => emptyOr(page, 'No sequences yet', page.getByRole('table', { name: 'Sequences' })),
    },
    { place: 'sequences/new', isReady: (page) => page.getByRole('list', { name: 'Steps' }) },
    { place: 'review', isReady: heading },
    { place: 'review/numbers', isReady: heading },
    { place: 'review/results', isReady: heading },
    { place: 'review/settings', isReady: (page) => page.getByRole('button', { name: 'Add criterion' }) },
    {
      place: 'scenarios',
      isReady: (page) => page.getByRole('table', { name: 'Scenarios' }),
      overlays: {
        new: button('New scenario'),
        one: (page) => page.getByRole('button', { name: /^Says thanks/ }).click(),
        run: button('Run 30 scenarios'),
      },
    },
    {
      place: 'templates',
      isReady: (page) => page.getByRole('table', { name: 'Templates' }),
      overlays: { one: inOrder(button('order_update'), text(/ships today/)) },
    },
    { place: `templates/${draft.id}`, isReady: (page) => page.getByRole('textbox', { name: 'Name' }) },
    {
      place: 'knowledge',
      isReady: (page) => page.getByRole('table', { name: 'Knowledge' }),
      overlays: { import: button('Import') },
    },
    { place: 'knowledge/new', isReady: (page) => page.getByRole('textbox', { name: 'Title' }) },
    {
      place: `knowledge/${article.id}`,
      isReady: (page) => page.getByRole('button', { name: /^Version 1/ }),
      overlays: { delete: inOrder(button('More'), item('Delete')) },
    },
    { place: 'webhooks', isReady: (page) => page.getByRole('table'), overlays: { new: button('New webhook') } },
    { place: `webhooks/${endpoint.id}?view=charts`, isReady: (page) => page.getByRole('figure', { name: 'Events' }) },
    {
      place: `webhooks/${endpoint.id}?view=settings`,
      isReady: (page) => page.getByText(/^(Masked|Sent in full)$/).first(),
    },
    {
      place: `webhooks/${endpoint.id}`,
      isReady: heading,
      overlays: {
        test: button('Send test event'),
        change: inOrder(button('More'), item('Edit')),
        more: button('More'),
      },
    },
    ...settings.map(
      (name): Stop => ({ place: `settings/${name}`, isReady: heading, ...(more[name] && { overlays: more[name] }) }),
    ),
    { place: 'profile', isReady: (page) => page.getByRole('list', { name: 'Active sessions' }) },
    { place: 'nowhere', isReady: (page) => page.getByRole('heading') },
  ]
  return { stops, forStrangers: [`${demo.url}/sign-in`, `${demo.url}/sign-in/nothing`, invitation, signInLink] }
}

/** Opens within the page instead of over it. */
const inPlace = new Set(['save', 'search', 'note', 'templates', 'selection', 'bulk-done', 'nothing', 'field', 'thanks'])
/** Escape closes only one of its layers. */
const layered = new Set(['bulk-ask', 'rotate', 'revoke', 'edit'])

/** Uses one page for all paths: loading the app and axe takes longer than the checks. */
export function walkerOf(demo: Demo, page: Page) {
  const lost = page.getByRole('heading', { name: 'Page not found' })
  const over = page.locator(overlays).filter({ visible: true }).first()
  const addressOf = (place: string) => `${demo.url}/w/${demo.workspaceId}/${place}`
  const push = (place: string) => page.evaluate(`history.pushState({}, '', ${JSON.stringify(addressOf(place))})`)
  /** Navigates by an unknown path, which resets open layers, drafts and selections. */
  const goTo = async ({ place, isReady }: Stop) => {
    await push('nowhere')
    await lost.waitFor()
    if (place === 'nowhere') return
    await push(place)
    await lost.waitFor({ state: 'detached' })
    await isReady(page).waitFor()
  }
  /** Checks the page and its layers; for layers over the page, only the layer. */
  const walk = async (
    stop: Stop,
    look: (page: Page, within?: string) => Promise<string[]>,
    left: readonly string[] = [],
  ) => {
    await goTo(stop)
    const found = await look(page)
    for (const [name, open] of Object.entries(stop.overlays ?? {})) {
      if (left.includes(name)) continue
      await open(page)
      if (!inPlace.has(name)) await over.waitFor()
      const issues = await look(page, inPlace.has(name) ? undefined : overlays)
      found.push(...issues.map((issue) => `${name}: ${issue}`))
      await page.keyboard.press('Escape')
      if (inPlace.has(name) || layered.has(name)) await goTo(stop)
      else await over.waitFor({ state: 'detached' })
      if (page.url() !== addressOf(stop.place)) await goTo(stop)
    }
    return found
  }
  return { goTo, walk }
}

/** Returns the path for the title of a test. */
export const currentPath = ({ place }: Stop): string => place.replace(/[0-9a-f-]{36}/, '…')
