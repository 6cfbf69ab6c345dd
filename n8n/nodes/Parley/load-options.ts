import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow'
import type { ConnectionsListed, LabelsListed, PeopleListed, TemplatesListed } from '../../../client/src/agent-calls.ts'
import { sendRequest } from '../../shared/request.ts'

const toOption = ({ name, id }: { name: string; id: string }): INodePropertyOptions => ({ name, value: id })

export const loadOptions = {
  getConnections: optionsLoader('/connections', ({ connections }: ConnectionsListed) => connections.map(toOption)),
  getLabels: optionsLoader('/labels', ({ labels }: LabelsListed) => labels.map(toOption)),
  getMembers: optionsLoader('/people', ({ members }: PeopleListed) => members.map(toOption)),
  getAgents: optionsLoader('/people', ({ agents }: PeopleListed) =>
    agents.filter(({ is_you }) => !is_you).map(({ name, key_id }) => ({ name, value: key_id })),
  ),
  getTemplates: optionsLoader('/templates', templateChoices),
}

function optionsLoader<Answer>(path: string, choose: (answer: Answer) => INodePropertyOptions[]) {
  return async function (this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
    return choose(await sendRequest<Answer>(this, 'parleyApi', { method: 'GET', path: `/api/v2${path}` }))
  }
}

/** Deduplicates templates by name and language, because several connections can have the same one. */
function templateChoices({ templates }: TemplatesListed): INodePropertyOptions[] {
  const choices = new Map<string, INodePropertyOptions>()
  for (const { name, language, body } of templates) {
    const value = `${name}/${language}`
    choices.set(value, { name: `${name} (${language})`, value, description: body })
  }
  return [...choices.values()]
}
