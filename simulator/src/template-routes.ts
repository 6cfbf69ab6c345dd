import { conflict, notFound } from '../../server/src/base/errors.ts'
import type { App } from '../../server/src/base/route.ts'
import { announceTemplate } from './business-acts.ts'
import * as schema from './control-schema.ts'
import type { Platform } from './platform.ts'
import { randomDigits } from './random-digits.ts'
import type { SimulatedTemplate, TemplateComponent } from './template.ts'
import { limits, type World } from './world.ts'

/** Templates as their owner would edit them at the platform. */
export function templateRoutes(app: App, platform: Platform): void {
  const { templates } = platform.world
  const tags = ['Templates']
  app.get('/simulator/templates', { schema: { tags, summary: 'All templates' } }, () => ({
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
    const { announce = true, ...fields } = body
    const template = Object.assign(findTemplate(platform, params.templateId), fields) as SimulatedTemplate
    if (announce) announceTemplate(platform, template, template.status)
    return template
  })
  const remove = { tags, summary: 'Remove a template', params: schema.templateParams }
  app.delete('/simulator/templates/:templateId', { schema: remove }, ({ params }) => {
    const template = findTemplate(platform, params.templateId)
    templates.delete(template.id)
    announceTemplate(platform, template, 'DELETED')
    return { templates: [...templates.values()] }
  })
}

export function addTemplate(world: World, given: Omit<SimulatedTemplate, 'id'>): SimulatedTemplate {
  const { templates } = world
  if (templates.size >= limits.templates) throw conflict('The simulator holds no more templates')
  const isTaken = [...templates.values()].some(
    ({ name, language }) => name === given.name && language === given.language,
  )
  if (isTaken) throw conflict('A template with this name and language exists already')
  const template = { id: randomDigits(15), ...given }
  templates.set(template.id, template)
  return template
}

function findTemplate({ world }: Platform, id: string): SimulatedTemplate {
  const template = world.templates.get(id)
  if (template === undefined) throw notFound('There is no such template')
  return template
}
