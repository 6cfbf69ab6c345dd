import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../../server/src/base/route.ts'
import { announceTemplate } from '../customer-actions.ts'
import type { Platform } from '../platform.ts'
import type { SimulatedTemplate } from '../simulated-template.ts'
import { randomDigits } from '../wamid.ts'
import { type BusinessNumber, limits } from '../world.ts'
import { checkCodeParts } from './check-authentication.ts'
import { checkNewTemplate, checkParts } from './check-new-template.ts'
import { answerOr } from './fault-answer.ts'
import { GraphError, invalidParameter, isObject } from './graph-error.ts'

/** Who calls: both throw the platform's error for a wrong token. */
interface Callers {
  accountOf(request: unknown): BusinessNumber
  bearerOf(request: unknown): BusinessNumber
}

const root = '/:version(^v\\d{1,2}\\.\\d$)'
const dayMs = 86_400_000
const schema = { hide: true }

/** Registers the routes that create and delete templates, and upload their sample files. */
export function templateRoutes(app: App, platform: Platform, { accountOf, bearerOf }: Callers): void {
  app.post(`${root}/:objectId/message_templates`, { schema }, (request, reply) => {
    accountOf(request)
    return answerOr(platform, reply, 'template', () => createTemplate(platform, request.body))
  })
  app.delete(`${root}/:objectId/message_templates`, { schema }, (request, reply) => {
    accountOf(request)
    return answerOr(platform, reply, 'template', () => deleteTemplates(platform, request))
  })
  app.post(`${root}/:objectId/uploads`, { schema }, (request, reply) => {
    bearerOf(request)
    return answerOr(platform, reply, 'upload', () => beginUpload(request))
  })
  // Files of these types are streams; browsers send them across sites only after a preflight.
  app.addContentTypeParser(/^(?:image|video)\//, (_request, payload, done) => done(null, payload))
  app.addContentTypeParser('application/pdf', (_request, payload, done) => done(null, payload))
  app.post(`${root}/:session(^upload:.*$)`, { schema, bodyLimit: Number.MAX_SAFE_INTEGER }, async (request) => {
    const token = /^OAuth\s+(\S+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    bearerOf({ ...request, params: request.params, query: {}, headers: { authorization: `Bearer ${token}` } })
    return { h: await receiveSample(request) }
  })
}

const sampleTypes = ['application/pdf', 'image/jpeg', 'image/jpg', 'image/png', 'video/mp4']

function beginUpload({ query }: FastifyRequest): object {
  const { file_length, file_type = '' } = query as Record<string, string>
  if (!sampleTypes.includes(file_type))
    throw invalidParameter(`Param file_type must be one of ${sampleTypes.join(', ')}`)
  if (!(Number(file_length) > 0)) throw invalidParameter('The parameter file_length is required.')
  const id = Buffer.from(`${randomDigits(15)}:${file_length}`).toString('base64url')
  return { id: `upload:${id}?sig=${randomBytes(12).toString('base64url')}` }
}

async function receiveSample(request: FastifyRequest): Promise<string> {
  const { session = '' } = request.params as { session?: string }
  const expected = Number(Buffer.from(session.slice('upload:'.length), 'base64url').toString().split(':')[1])
  if (request.headers.file_offset !== '0') throw invalidParameter('The header file_offset must be 0.')
  let size = 0
  if (request.body instanceof Readable) for await (const piece of request.body) size += (piece as Buffer).length
  if (size !== expected) throw invalidParameter(`The file has ${size} bytes, and not ${expected} as announced.`)
  return `4:${randomBytes(48).toString('base64')}`
}

function createTemplate(platform: Platform, body: unknown): object {
  const { world } = platform
  const given = checkNewTemplate(body)
  const { name, language } = given
  if (world.templates.size >= limits.templates)
    throw new GraphError(100, { subcode: 2388019, message: 'Too many templates' })
  if ([...world.templates.values()].some((one) => one.name === name && one.language === language)) {
    const text = `There is already ${language} content for this template. You can create a new template and try again.`
    throw new GraphError(100, {
      message: 'Invalid parameter',
      ...{ subcode: 2388024, forPeople: { title: 'Content in This Language Already Exists', text } },
    })
  }
  const deletedAt = world.deletedTemplates.get(`${name} ${language}`)
  if (deletedAt !== undefined && platform.clock.now().getTime() - deletedAt.getTime() < 30 * dayMs) {
    const text = 'The content is being deleted. Try again in 4 weeks or create a new message template.'
    throw new GraphError(100, {
      message: 'Invalid parameter',
      ...{ subcode: 2388023, forPeople: { title: 'Message Template Language is Being Deleted', text } },
    })
  }
  const template: SimulatedTemplate = { id: randomDigits(15), ...given, status: 'PENDING' }
  world.templates.set(template.id, template)
  platform.changed()
  return { id: template.id, status: template.status, category: template.category }
}

/** Replaces the components of a template, as its owner may: an approved one once a day and ten times in 30 days. */
export function editTemplate(platform: Platform, template: SimulatedTemplate, body: unknown): object {
  const { components, category } = isObject(body) ? body : {}
  const now = platform.clock.now()
  const isApproved = template.status === 'APPROVED'
  const refuse = (text: string) => {
    const title = "Message template can't be edited"
    throw new GraphError(100, { message: 'Invalid parameter', forPeople: { title, text } })
  }
  if (!isApproved && template.status !== 'REJECTED' && template.status !== 'PAUSED') {
    refuse('Only approved, rejected and paused templates can be edited.')
  }
  const edits = platform.world.templateEdits.get(template.id) ?? []
  const editsOf = (days: number) => edits.filter((at) => now.getTime() - at.getTime() < days * dayMs).length
  if (isApproved && (editsOf(1) >= 1 || editsOf(30) >= 10)) {
    refuse('An approved template can be edited once in 24 hours and 10 times in 30 days.')
  }
  if (category !== undefined && category !== template.category) {
    if (isApproved) refuse('The category of an approved template cannot be changed.')
    if (category !== 'MARKETING' && category !== 'UTILITY') throw invalidParameter('Param category is not valid.')
    template.category = category
  }
  const isForCodes = template.category === 'AUTHENTICATION'
  template.components = isForCodes
    ? checkCodeParts(components, template.language)
    : checkParts(components, template.parameter_format)
  template.status = 'PENDING'
  delete template.rejected_reason
  platform.world.templateEdits.set(template.id, [...edits.slice(-9), now])
  platform.changed()
  announceTemplate(platform, template, 'PENDING')
  return { success: true }
}

function deleteTemplates(platform: Platform, { query }: FastifyRequest): object {
  const { name, hsm_id: id } = query as Record<string, string | undefined>
  const { templates, deletedTemplates } = platform.world
  const found = [...templates.values()].filter((one) => one.name === name && (id === undefined || one.id === id))
  if (found.length === 0) {
    const text = `The message template ${(name ?? '').slice(0, 100)} wasn't found for this account.`
    throw new GraphError(100, {
      message: 'Invalid parameter',
      ...{ subcode: 2593002, forPeople: { title: 'Message template not found', text } },
    })
  }
  for (const template of found) {
    templates.delete(template.id)
    const key = `${template.name} ${template.language}`
    if (template.status === 'APPROVED') deletedTemplates.set(key, platform.clock.now())
    announceTemplate(platform, template, 'DELETED')
  }
  for (const oldest of deletedTemplates.keys()) {
    if (deletedTemplates.size > limits.templates) deletedTemplates.delete(oldest)
  }
  platform.changed()
  return { success: true }
}
