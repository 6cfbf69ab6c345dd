import { readFile } from 'node:fs/promises'
import type { Runtime } from '../../app/runtime.ts'
import { manualClock } from '../../base/clock.ts'
import { ApiError, InvalidInput } from '../../base/errors.ts'
import { createForm } from '../../forms/form/change.ts'
import type { NewForm } from '../../forms/form/schema.ts'
import { authorOf, importArticles } from '../../knowledge/write-article.ts'
import { createLeadField, type NewLeadField } from '../../leads/fields/field-routes.ts'
import type { CustomField } from '../../leads/lead/custom-fields.ts'
import { parseLeadPatch } from '../../leads/lead/input.ts'
import type { AdPlatform, LeadDeps, LeadUser, Priority, Source } from '../../leads/lead/lead.ts'
import type { LeadChanges } from '../../leads/lead/schema.ts'
import { upsertLeads } from '../../leads/write/upsert.ts'
import type { Member } from '../../team/member.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { createLabel, type LabelColor } from '../../workspaces/labels.ts'

const hourMs = 3_600_000
const visitAfterMs = 14 * 24 * hourMs

/** Fills the demo workspace with six weeks of activity, through the functions that requests use. Can be repeated. */
export async function fillDemo(runtime: Runtime, owner: Member): Promise<void> {
  const { db, keyStore, clock } = runtime
  for (const label of demoLabels) await ignoreConflict(() => createLabel({ db, keyStore, clock }, owner, label))
  for (const field of demoFields) await ignoreConflict(() => createLeadField({ db, clock }, owner, field))
  await ignoreConflict(() => createForm({ db, clock }, owner, demoForm))
  const imports = { source: 'import', isPublishing: true, isDryRun: false } as const
  await importArticles({ db, clock }, authorOf(owner), demoArticles, imports)
  for (const [at, lead] of (await readDemoLeads()).entries()) await addLead(runtime, owner, lead, at + 1)
}

const demoLabels: readonly { name: string; color: LabelColor }[] = [
  { name: 'VIP', color: 'amber' },
  { name: 'Call back', color: 'blue' },
  { name: 'Waiting for papers', color: 'violet' },
]

const article = (kind: 'article' | 'answer', title: string, body: string, tags: string[]) => ({
  address: `demo/${title}`,
  fields: { kind, language: 'en', title, body, tags, keyIds: null, validFrom: null, validUntil: null },
})

const demoArticles = [
  article('answer', 'When are you open?', 'We are open from Monday to Friday, from 9 to 18.', ['hours']),
  article(
    'article',
    'How do I cancel a plan?',
    'You can cancel at any time in the app, under **My plan**.\n\n- A monthly plan ends with the month.\n- For an annual plan we refund the months that are left.',
    ['plan', 'refund'],
  ),
  article('article', 'What does a visit cost?', 'The first visit is free. Later visits cost 40 each.', [
    'prices',
    'visit',
  ]),
]

const interests = ['Monthly plan', 'Annual plan', 'Something else']

const demoFields: readonly NewLeadField[] = [
  { key: 'interest', label: 'Interested in', type: 'select', choices: interests },
  { key: 'budget', label: 'Budget', type: 'amount', shownIn: ['panel', 'forms'] },
  { key: 'visit_on', label: 'Visit on', type: 'date', shownIn: ['panel'] },
]

const demoForm: NewForm = {
  slug: 'demo',
  name: 'Demo form',
  title: 'Talk to our team',
  description: 'Tell us what you are looking for. We answer within one working day.',
  fields: [
    { key: 'firstName', label: 'First name', type: 'text', required: true },
    { key: 'lastName', label: 'Last name', type: 'text', required: false },
    { key: 'email', label: 'E-mail', type: 'email', required: false },
    { key: 'phone', label: 'Phone', type: 'phone', required: true, placeholder: '(11) 95550-1234' },
    {
      key: 'interest',
      label: 'Interested in',
      type: 'select',
      required: false,
      options: interests,
    },
    { key: 'newsletter', label: 'Send me news once a month', type: 'boolean', required: false },
  ],
  submitLabel: 'Ask for a call',
}

async function ignoreConflict(work: () => Promise<unknown>): Promise<void> {
  await work().catch((error: unknown) => {
    if (!(error instanceof ApiError && error.statusCode === 409)) throw error
  })
}

/** A row of `people.csv`, with empty strings for missing values. People are invented, phones reserved if possible. */
interface DemoLead {
  daysAgo: string
  firstName: string
  lastName: string
  phone: string
  source: Source
  adPlatform: AdPlatform | ''
  priority: Priority | ''
  /** Statuses after `new`, in order, separated by spaces. */
  steps: string
  estimatedValue: string
  interest: string
  campaign: string
  notes: string
}

async function readDemoLeads(): Promise<DemoLead[]> {
  const { parse } = await import('csv-parse/sync')
  return parse(await readFile(new URL('./people.csv', import.meta.url)), { columns: true })
}

async function addLead(runtime: Runtime, owner: Member, lead: DemoLead, number: number): Promise<void> {
  const now = runtime.clock.now()
  const createdAt = fromHoursAgo(now, Number(lead.daysAgo) * 24)
  const externalRef = `DEMO-${String(number).padStart(3, '0')}`
  await storeLead(runtime, owner, externalRef, createdAt, firstFields(lead, number), customFieldsOf(lead, createdAt))

  const steps = lead.steps.split(' ').filter((step) => step !== '')
  for (const [at, status] of steps.entries()) {
    // Spreads the steps evenly over the time since creation.
    const hoursAgo = Number(lead.daysAgo) * 24 * (1 - (at + 1) / (steps.length + 1))
    const changes: LeadChanges = { status }
    if (at === 0 && owner.userId !== null) changes.assignedTo = owner.userId
    if (status === 'won' && lead.estimatedValue !== '') changes.actualValue = Number(lead.estimatedValue)
    await storeLead(runtime, owner, externalRef, fromHoursAgo(now, hoursAgo), changes, [])
  }
}

async function storeLead(
  { db, keyStore }: Runtime,
  owner: Member,
  externalRef: string,
  at: Date,
  fields: LeadChanges,
  custom: CustomField[],
): Promise<void> {
  const deps: LeadDeps = { db, keyStore, clock: manualClock(at) }
  const { workspaceId, workspace } = owner
  const user: LeadUser = { workspaceId, defaultCountry: workspace.defaultCountry, masked: false, actor: systemActor }
  const { patch, issues } = parseLeadPatch(fields, custom, { defaultCountry: workspace.defaultCountry, at: '' })
  if (issues.length > 0) throw new InvalidInput(issues)
  const item = { by: 'externalRef', value: externalRef, patch, createIfMissing: true, at: '' } as const
  const [outcome] = await upsertLeads(deps, user, [item], { continueOnError: false, dryRun: false })
  if (outcome?.action === 'failed') throw outcome.error
}

function firstFields(lead: DemoLead, number: number): LeadChanges {
  const { firstName, lastName, phone, source, adPlatform, priority, estimatedValue, notes } = lead
  const mailbox =
    (lastName || firstName)
      .normalize('NFD')
      .replace(/[^A-Za-z]/g, '')
      .toLowerCase() || 'lead'
  return {
    ...{ firstName, lastName: lastName || null, phone: phone || null, source },
    email: `${mailbox}.${number}@example.com`,
    ...(adPlatform !== '' && { adPlatform }),
    ...(priority !== '' && { priority }),
    ...(estimatedValue !== '' && { estimatedValue: Number(estimatedValue) }),
    ...(notes !== '' && { notes }),
  }
}

function customFieldsOf({ interest, campaign, estimatedValue }: DemoLead, createdAt: Date): CustomField[] {
  const fields: CustomField[] = []
  if (interest !== '') fields.push({ key: 'interest', label: 'Interested in', type: 'select', value: interest })
  if (interest === 'Annual plan' && estimatedValue !== '') {
    const visit = new Date(createdAt.getTime() + visitAfterMs).toISOString().slice(0, 10)
    fields.push({ key: 'budget', label: 'Budget', type: 'number', value: estimatedValue })
    fields.push({ key: 'visit_on', label: 'Visit on', type: 'date', value: visit })
  }
  if (campaign !== '') {
    fields.push({ key: 'k_utm_campaign', label: 'k_utm_campaign', type: 'text', value: campaign })
  }
  return fields
}

function fromHoursAgo(now: Date, hours: number): Date {
  return new Date(now.getTime() - Math.round(hours * hourMs))
}
