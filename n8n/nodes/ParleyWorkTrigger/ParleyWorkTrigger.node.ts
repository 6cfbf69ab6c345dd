import {
  type IDataObject,
  type INodeType,
  type INodeTypeDescription,
  type ITriggerFunctions,
  type ITriggerResponse,
  NodeApiError,
  NodeConnectionTypes,
  sleep,
} from 'n8n-workflow'
import type { AgentWork, WorkFound } from '../../../client/src/agent-calls.ts'
import { sendRequest } from '../../shared/request.ts'

const waitSeconds = 25
const maxPauseMs = 30_000

/** Starts a workflow for each conversation that needs its agent. Polls, so n8n needs no public URL. */
export class ParleyWorkTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Parley Work Trigger',
    name: 'parleyWorkTrigger',
    icon: { light: 'file:../Parley/parley.svg', dark: 'file:../Parley/parley.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: 'Waits for customers',
    description: 'Starts the workflow when a customer waits for this agent, with the context to answer',
    eventTriggerDescription: 'Waiting for a customer to write',
    activationMessage: 'New work of this agent starts this workflow.',
    defaults: { name: 'Parley Work Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'parleyApi', required: true }],
    properties: [
      {
        displayName:
          'The workflow acts as the agent of its API key. It gets new conversations if the key answers them, and conversations that people hand over to it. No webhook is needed.',
        name: 'notice',
        type: 'notice',
        default: '',
      },
    ],
  }

  async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
    const stopping = new AbortController()
    const closeFunction = async () => stopping.abort()
    if (this.getMode() !== 'manual') {
      void followWork(this, stopping.signal)
      return { closeFunction }
    }
    const manualTriggerFunction = async () => {
      const [first] = await waitForWork(this, stopping.signal)
      if (first !== undefined) this.emit([[{ json: first }]])
    }
    return { closeFunction, manualTriggerFunction }
  }
}

/**
 * Emits work while the workflow is active. Stores the cursor after its page was emitted; n8n saves it with the next
 * page. After a crash, work whose cursor was not saved is emitted again if the customer is still waiting.
 */
async function followWork(context: ITriggerFunctions, signal: AbortSignal): Promise<void> {
  const known = context.getWorkflowStaticData('node')
  let failures = 0
  while (!signal.aborted) {
    try {
      const { work, cursor } = await readWork(context, signal, known.cursor as string | undefined)
      failures = 0
      for (const item of work) if (!signal.aborted) context.emit([[{ json: item }]])
      if (!signal.aborted) known.cursor = cursor
    } catch (error) {
      if (signal.aborted) return
      // The cursor belongs to an earlier key of the workflow: start over with all pending work.
      if (known.cursor !== undefined && httpCodeOf(error) === '400') {
        delete known.cursor
        continue
      }
      // n8n reports the error, deactivates the workflow, and retries with increasing pauses.
      if (isRefused(error)) return context.emitError(error as NodeApiError)
      context.logger.warn(`Parley was not reached: ${(error as Error).message}`)
      await sleep(Math.min(maxPauseMs, 1000 * 2 ** failures++))
    }
  }
}

const httpCodeOf = (error: unknown): string => (error instanceof NodeApiError ? String(error.httpCode) : '')

const isRefused = (error: unknown): boolean => ['400', '401', '403', '404'].includes(httpCodeOf(error))

/** Returns the first pending work, for a manual test run. */
async function waitForWork(context: ITriggerFunctions, signal: AbortSignal): Promise<IDataObject[]> {
  let cursor: string | undefined
  while (!signal.aborted) {
    const found = await readWork(context, signal, cursor)
    if (found.work.length > 0) return found.work
    cursor = found.cursor
  }
  return []
}

async function readWork(context: ITriggerFunctions, signal: AbortSignal, cursor: string | undefined) {
  const query = { wait: waitSeconds, ...(cursor !== undefined && { cursor }) }
  const call = { method: 'GET', path: '/api/v2/work', query, signal } as const
  const { work, next_cursor, instructions_version } = await sendRequest<WorkFound>(context, 'parleyApi', call)
  // A workflow that keeps the instructions reads them again (Who Am I) when the version changes.
  const items = work.map((one) => ({ ...withCustomerText(one), instructions_version }))
  return { work: items, cursor: next_cursor ?? undefined }
}

/** Adds all customer texts since the last answer as one field, for branches and prompts. */
function withCustomerText(work: AgentWork): IDataObject {
  const last = work.messages.findLastIndex(({ from }) => from !== 'customer' && from !== 'system')
  const texts = work.messages.slice(last + 1).flatMap(({ customer_text }) => customer_text ?? [])
  return { ...work, customer_text: texts.join('\n') }
}
