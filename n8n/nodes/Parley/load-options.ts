import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow'
import type { ConnectionsListed, LabelsListed, PeopleListed, TemplatesListed } from '../../../client/src/agent-calls.ts'
import { ask } from '../../shared/ask.ts'

const named = ({ name, id }: { name: string; id: string }): INodePropertyOptions => ({ name, value: id })

/** What dropdowns offer. */
export const loadOptions = {
  getConnections: offering('/connections', ({ connections }: ConnectionsListed) => connections.map(named)),
  getLabels: offering('/labels', ({ labels }: LabelsListed) => labels.map(named)),
  getMembers: offering('/people', ({ members }: PeopleListed) => members.map(named)),
  getAgents: offering('/people', ({ agents }: PeopleListed) =>
    agents.filter(({ is_you }) => !is_you).map(({ name, key_id }) => ({ name, value: key_id })),
  ),
  getTemplates: offering('/templates', templateChoices),
}

function offering<Answer>(path: string, choose: (answer: Answer) => INodePropertyOptions[]) {
  return async function (this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
    return choose(await ask<Answer>(this, 'parleyApi', { method: 'GET', path: `/api/v2${path}` }))
  }
}

/** A template of the same name may be on several connections. */
function templateChoices({ templates }: TemplatesListed): INodePropertyOptions[] {
  const choices = new Map<string, INodePropertyOptions>()
  for (const { name, language, body } of templates) {
    const value = `${name}/${language}`
    choices.set(value, { name: `${name} (${language})`, value, description: body })
  }
  return [...choices.values()]
}
