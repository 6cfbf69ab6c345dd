import { readFile } from 'node:fs/promises'
import { llmsText } from '../../agents/http/llms.ts'
import { agentDocument } from '../../agents/http/openapi.ts'
import { basePath } from '../../agents/http/routes.ts'
import type { Verb } from '../../agents/verb.ts'
import type { App } from '../../base/route.ts'
import { type KeptAnswer, keepAnswer, sendKept } from './kept-answer.ts'

const askAgain = 'public, no-cache'
const guide = new URL('../../../../docs/agents.md', import.meta.url)

/** What agents read about their interface: `/llms.txt`, `/docs/agents.md` and the document of `/api/v2`. */
export function serveAgentReference(app: App, verbs: readonly Verb[]): void {
  const pages: Record<string, [type: string, make: () => Promise<string>]> = {
    [`${basePath}/openapi.json`]: ['application/json', async () => JSON.stringify(agentDocument(verbs))],
    '/llms.txt': ['text/plain', async () => llmsText(verbs)],
    '/docs/agents.md': ['text/markdown', () => readFile(guide, 'utf8')],
  }
  for (const [path, [type, make]] of Object.entries(pages)) {
    let kept: Promise<KeptAnswer> | undefined
    app.get(path, { exposeHeadRoute: true, schema: { hide: true } }, async (request, reply) => {
      kept ??= make().then((text) => keepAnswer(`${type}; charset=utf-8`, askAgain, Buffer.from(text)))
      return sendKept(request, reply, await kept)
    })
  }
}
