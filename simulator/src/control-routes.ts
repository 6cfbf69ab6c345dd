import type { Static } from 'typebox'
import { badRequest, conflict, notFound } from '../../server/src/base/errors.ts'
import type { App } from '../../server/src/base/route.ts'
import { parseIsoTime } from '../../server/src/base/time.ts'
import { announceStatus } from './announce-status.ts'
import { defaultDelivery } from './callbacks/webhook-payload.ts'
import * as schema from './control-schema.ts'
import { announceAccount, announceCategory, announceQuality, announceTemplate } from './customer-actions.ts'
import { isFileEffect, maxFaults } from './faults.ts'
import type { Platform } from './platform.ts'
import type { SimulatedTemplate, TemplateComponent } from './simulated-template.ts'
import { randomDigits } from './wamid.ts'
import { type BusinessNumber, limits, newNumber, newPartnerSide, newPhone, type World } from './world.ts'

/** Registers the control routes: clock, numbers, faults, webhook delivery and account events. */
export function controlRoutes(app: App, platform: Platform): void {
  clockRoutes(app, platform)
  numberRoutes(app, platform)
  faultRoutes(app, platform)
  deliveryRoutes(app, platform)
  const tags = ['Knobs']
  const event = { tags, summary: 'Send an account event', body: schema.accountEvent }
  app.post('/simulator/account-events', { schema: event }, ({ body }) => {
    announceAccount(platform, numberFor(platform, body.numberId), body.event)
    return { announced: true }
  })
  const raw = { tags, summary: 'Send any change, signed and delivered like the others', body: schema.rawWebhook }
  app.post('/simulator/webhooks', { schema: raw }, ({ body: { field, value, numberId, isTimed = false } }) => {
    platform.webhookSender.send(numberFor(platform, numberId), { field, value, isTimed })
    return { sent: true }
  })
  app.get('/simulator/journal', { schema: { tags, summary: 'List the latest calls and webhooks' } }, () => ({
    entries: platform.journal.list(),
  }))
}

/** Returns the number with this id, or the first one. */
export function numberFor({ world }: Platform, numberId: string | undefined): BusinessNumber {
  const number = numberId === undefined ? [...world.numbers.values()][0] : world.numbers.get(numberId)
  if (number === undefined) throw notFound('Number not found. Add one with POST /simulator/numbers')
  return number
}

function clockRoutes(app: App, platform: Platform): void {
  const { clock, scheduler, linked } = platform
  const tags = ['Clock']
  const state = () => ({ now: clock.now().toISOString(), shiftMs: clock.shiftMs() })
  const response = { 200: schema.clockState }
  app.get('/simulator/clock', { schema: { tags, summary: 'Read the simulated time', response } }, state)
  const move = { tags, summary: 'Change the time of the service and the platform', body: schema.clockChange, response }
  app.post('/simulator/clock', { schema: move }, ({ body }) => {
    const before = clock.shiftMs()
    if (body.advanceMs !== undefined) clock.shiftTo(before + body.advanceMs)
    else if (body.set !== undefined) clock.shiftTo(before + timeOf(body.set).getTime() - clock.now().getTime())
    else clock.shiftTo(0)
    for (const { onClockChange } of [scheduler, linked.pairingScheduler]) onClockChange(clock.shiftMs() - before)
    platform.changed()
    return state()
  })
}

function timeOf(text: string): Date {
  const time = parseIsoTime(text)
  if (time === null) throw badRequest('set must be an ISO 8601 time with an offset')
  return time
}

function numberRoutes(app: App, platform: Platform): void {
  const { numbers } = platform.world
  const tags = ['Numbers']
  const list = { tags, summary: 'List business numbers, with the credentials for a connection' }
  app.get('/simulator/numbers', { schema: list }, () => ({ numbers: [...numbers.values()] }))
  const add = { tags, summary: 'Add a business number', body: schema.numberCreate }
  app.post('/simulator/numbers', { schema: add }, ({ body }, reply) => {
    if (numbers.size >= limits.numbers) throw conflict('The simulator has reached its limit of numbers')
    const number = createNumber(platform, body)
    if (numbers.has(number.numberId)) throw conflict('A phone with this number already exists')
    numbers.set(number.numberId, number)
    platform.changed()
    return reply.code(201).send(number)
  })
  const change = { tags, summary: 'Change a number', params: schema.numberParams, body: schema.numberChange }
  app.patch('/simulator/numbers/:numberId', { schema: change }, ({ params, body }) => {
    const { signingSecret, ...fields } = body
    const number = Object.assign(numberFor(platform, params.numberId), fields)
    shareFields(platform, number, fields)
    // The owner sets the URL in the settings of the app.
    if (fields.callbackUrl !== undefined) number.callbackLevel = 'application'
    if (fields.onboardedAt !== undefined) number.historyRequests = []
    announceStatus(platform, number, fields)
    platform.changed()
    if (signingSecret === undefined) return number
    if (number.partner === null) throw conflict('The number has no partner')
    number.partner.signingSecret = signingSecret
    return number
  })
  const remove = { tags, summary: 'Remove a number with its customers', params: schema.numberParams }
  app.delete('/simulator/numbers/:numberId', { schema: remove }, ({ params }) => {
    if (numbers.size === 1) throw conflict('The last number cannot be removed')
    removeNumber(platform, numberFor(platform, params.numberId))
    return { removed: true }
  })
}

/** Removes a number with its customers. Nothing is sent to its URL any more. */
function removeNumber({ world, changed }: Platform, number: BusinessNumber): void {
  number.callbackUrl = null
  world.numbers.delete(number.numberId)
  for (const { id, numberId } of world.customers.values()) {
    if (numberId === number.numberId) world.customers.delete(id)
  }
  changed()
}

/** Applies what belongs to a token or an account to the other numbers that share it. */
function shareFields(
  { world }: Platform,
  { accessToken, accountId }: BusinessNumber,
  { tokenState, missingPermission, subscribed, hasOtherApp, restrictions }: Partial<BusinessNumber>,
): void {
  for (const other of world.numbers.values()) {
    if (other.accessToken === accessToken) {
      if (tokenState !== undefined) other.tokenState = tokenState
      if (missingPermission !== undefined) other.missingPermission = missingPermission
    }
    if (other.accountId === accountId) {
      if (subscribed !== undefined) other.subscribed = subscribed
      if (hasOtherApp !== undefined) other.hasOtherApp = hasOtherApp
      if (restrictions !== undefined) other.restrictions = restrictions
    }
  }
}

function createNumber(platform: Platform, body: Static<typeof schema.numberCreate>): BusinessNumber {
  const { isPartners = false, isNew = false, sharesTokenOf, sharesAccountOf, ...given } = body
  if (given.network === 'linked') return newPhone(given)
  const partner = isPartners ? newPartnerSide() : null
  const model = sharesAccountOf ?? sharesTokenOf
  const { accessToken, appSecret, accountId } = numberFor(platform, model)
  return newNumber({
    ...given,
    partner,
    onboardedAt: platform.clock.now().toISOString(),
    ...(isNew && { registered: false, subscribed: false, isOnPhone: false }),
    ...(model !== undefined && { accessToken, appSecret }),
    ...(sharesAccountOf !== undefined && { accountId }),
  })
}

function faultRoutes(app: App, platform: Platform): void {
  const { faults, world } = platform
  const tags = ['Faults']
  app.get('/simulator/faults', { schema: { tags, summary: 'List pending faults' } }, () => ({ faults }))
  const add = { tags, summary: 'Add a fault', body: schema.faultCreate }
  app.post('/simulator/faults', { schema: add }, ({ body }, reply) => {
    if (faults.length >= maxFaults) throw conflict('Too many faults. Remove some first')
    const { effect, to = null, times = 1, code = 131_000, httpStatus = null } = body
    const on = body.on ?? (isFileEffect(effect) ? 'file' : 'send')
    if (isFileEffect(effect) && !['media', 'file', 'any'].includes(on)) {
      throw badRequest(`on must be media, file or any for the effect ${effect}`)
    }
    const { accepts = false, afterMs = 30_000 } = body
    const fault = { id: `f${world.nextId++}`, effect, on, to, times, code, httpStatus, accepts, afterMs }
    faults.push(fault)
    return reply.code(201).send(fault)
  })
  app.delete('/simulator/faults', { schema: { tags, summary: 'Remove all faults' } }, () => {
    faults.length = 0
    return { faults }
  })
  const remove = { tags, summary: 'Remove a fault', params: schema.faultParams }
  app.delete('/simulator/faults/:faultId', { schema: remove }, ({ params }) => {
    const at = faults.findIndex(({ id }) => id === params.faultId)
    if (at === -1) throw notFound('Fault not found or already consumed')
    faults.splice(at, 1)
    return { faults }
  })
}

function deliveryRoutes(app: App, platform: Platform): void {
  const { webhookSender, ladder } = platform
  const tags = ['Webhooks']
  const state = () => ({
    ...webhookSender.settings,
    ladder,
    pending: webhookSender.pending(),
    counts: webhookSender.counts,
  })
  app.get('/simulator/delivery', { schema: { tags, summary: 'Read delivery settings and counts' } }, state)
  const change = { tags, summary: 'Change delivery settings', body: schema.deliveryChange }
  app.patch('/simulator/delivery', { schema: change }, ({ body }) => {
    Object.assign(webhookSender.settings, body)
    if (body.paused === false) webhookSender.flush()
    return state()
  })
  app.post('/simulator/delivery/flush', { schema: { tags, summary: 'Send the collected changes' } }, () => {
    webhookSender.flush()
    return state()
  })
  app.post('/simulator/delivery/calm', { schema: { tags, summary: 'Reset delivery settings' } }, () => {
    Object.assign(webhookSender.settings, defaultDelivery)
    webhookSender.flush()
    return state()
  })
  const times = { tags, summary: 'Change the time that messages take', body: schema.ladderChange }
  app.patch('/simulator/ladder', { schema: times }, ({ body }) => Object.assign(ladder, body))
}

/** Registers the routes that edit templates, as their owner would at the platform. */
export function templateRoutes(app: App, platform: Platform): void {
  const { templates } = platform.world
  const tags = ['Templates']
  app.get('/simulator/templates', { schema: { tags, summary: 'List templates' } }, () => ({
    templates: [...templates.values()],
  }))
  const add = { tags, summary: 'Add a template', body: schema.templateCreate }
  app.post('/simulator/templates', { schema: add }, ({ body }, reply) => {
    const { status = 'PENDING', category = 'UTILITY', parameter_format = 'POSITIONAL', components, ...key } = body
    const given = {
      ...key,
      status,
      category,
      parameter_format,
      components: components as unknown as TemplateComponent[],
    }
    const template = addTemplate(platform.world, given)
    announceTemplate(platform, template, template.status)
    return reply.code(201).send(template)
  })
  const change = { tags, summary: 'Change a template', params: schema.templateParams, body: schema.templateChange }
  app.patch('/simulator/templates/:templateId', { schema: change }, ({ params, body }) => {
    const { announce = true, quality, rejectedReason, rejection = null, ...fields } = body
    const known = findTemplate(platform, params.templateId)
    const { category, quality_score } = known
    const template = Object.assign(known, fields) as SimulatedTemplate
    if (template.status === 'REJECTED') template.rejected_reason = rejectedReason ?? 'INVALID_FORMAT'
    else delete template.rejected_reason
    if (quality !== undefined) template.quality_score = { score: quality }
    platform.changed()
    if (!announce) return template
    if (quality !== undefined) announceQuality(platform, template, quality_score?.score ?? 'UNKNOWN')
    if (template.category !== category) announceCategory(platform, template, category)
    else if (quality === undefined) announceTemplate(platform, template, template.status, rejection)
    return template
  })
  const remove = { tags, summary: 'Remove a template', params: schema.templateParams }
  app.delete('/simulator/templates/:templateId', { schema: remove }, ({ params }) => {
    const template = findTemplate(platform, params.templateId)
    templates.delete(template.id)
    platform.changed()
    announceTemplate(platform, template, 'DELETED')
    return { templates: [...templates.values()] }
  })
}

export function addTemplate(world: World, given: Omit<SimulatedTemplate, 'id'>): SimulatedTemplate {
  const { templates } = world
  if (templates.size >= limits.templates) throw conflict('The simulator has reached its limit of templates')
  const isTaken = [...templates.values()].some(
    ({ name, language }) => name === given.name && language === given.language,
  )
  if (isTaken) throw conflict('A template with this name and language already exists')
  // Below the largest number that JSON keeps exactly.
  const template = { id: randomDigits(15), ...given }
  templates.set(template.id, template)
  return template
}

function findTemplate({ world }: Platform, id: string): SimulatedTemplate {
  const template = world.templates.get(id)
  if (template === undefined) throw notFound('Template not found')
  return template
}
