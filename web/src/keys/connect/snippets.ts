import { t } from '../../text/index.ts'

/** Apps that people connect by address alone, then programs that send a key. */
const oauthApps = ['claude', 'chatgpt'] as const
const programs = ['n8n', 'langchain', 'vercel', 'openai', 'curl'] as const
export const apps = [...oauthApps, ...programs]
export type AppName = (typeof apps)[number]

export const usesOAuth = (app: AppName): boolean => oauthApps.some((one) => one === app)

export const appTitles: Record<AppName, string> = {
  claude: 'Claude',
  chatgpt: 'ChatGPT',
  n8n: 'n8n',
  langchain: 'LangChain',
  vercel: 'Vercel AI SDK',
  openai: 'OpenAI Agents SDK',
  curl: 'curl',
}

interface Step {
  text: string
  /** Code to copy; a single line is an address or command. */
  code?: string
}

const task = 'Call who_am_i, then answer the next waiting customer.'

/** Returns the steps that connect an app to the MCP server at `url`, with the value of a key. */
export function stepsOf(app: AppName, url: string, key: string): Step[] {
  const { steps } = t.keys.connect
  switch (app) {
    case 'claude':
      return [
        { text: steps.claudeOpen },
        { text: steps.claudeAddress, code: url },
        { text: steps.allow },
        { text: steps.claudeCode, code: `claude mcp add --transport http parley ${url}` },
      ]
    case 'chatgpt':
      return [
        { text: steps.chatgptDeveloper },
        { text: steps.chatgptCreate },
        { text: steps.chatgptAddress, code: url },
        { text: steps.allow },
      ]
    case 'n8n':
      return [
        { text: steps.n8nNode },
        { text: steps.n8nAddress, code: url },
        { text: steps.n8nTransport },
        { text: steps.n8nKey, code: key },
        { text: steps.n8nRun },
      ]
    case 'langchain':
      return [
        { text: steps.install, code: 'pip install "langchain[mcp,openai]"' },
        { text: steps.run, code: langchain(url, key) },
      ]
    case 'vercel':
      return [
        { text: steps.install, code: 'npm install ai @ai-sdk/mcp @ai-sdk/openai' },
        { text: steps.run, code: vercel(url, key) },
      ]
    case 'openai':
      return [
        { text: steps.install, code: 'pip install openai-agents' },
        { text: steps.run, code: openai(url, key) },
      ]
    case 'curl':
      return [{ text: steps.curl, code: curlLine(url, key) }]
  }
}

/** Returns the command that reads the key's identity over HTTP. */
const curlLine = (url: string, key: string): string =>
  `curl '${url.replace(/\/mcp$/, '')}/api/v2/me' -H 'Authorization: Bearer ${key}'`

const langchain = (url: string, key: string) => `import asyncio

from fastmcp.client import Client
from langchain.agents import create_agent
from langchain.mcp import MCPAdapter


async def main():
    parley = Client(
        "${url}",
        auth="${key}",
    )
    message = {
        "role": "user",
        "content": "${task}",
    }
    async with MCPAdapter(parley) as adapter:
        tools = await adapter.list_tools()
        agent = create_agent("openai:gpt-5", tools)
        result = await agent.ainvoke({"messages": [message]})
        print(result["messages"][-1].content)


asyncio.run(main())`

const vercel = (url: string, key: string) => `import { createMCPClient } from '@ai-sdk/mcp'
import { openai } from '@ai-sdk/openai'
import { generateText, isStepCount } from 'ai'

const parley = await createMCPClient({
  transport: {
    type: 'http',
    url: '${url}',
    headers: {
      Authorization: 'Bearer ${key}',
    },
  },
})
const { text } = await generateText({
  model: openai('gpt-5'),
  tools: await parley.tools(),
  stopWhen: isStepCount(20),
  prompt: '${task}',
})
console.log(text)
await parley.close()`

// wait_for_work takes up to 25 s, and the default limit is 5 s.
const openai = (url: string, key: string) => `import asyncio

from agents import Agent, Runner
from agents.mcp import MCPServerStreamableHttp


async def main():
    async with MCPServerStreamableHttp(
        name="Parley",
        params={
            "url": "${url}",
            "headers": {
                "Authorization": "Bearer ${key}",
            },
        },
        client_session_timeout_seconds=60,
    ) as parley:
        agent = Agent(name="Support", mcp_servers=[parley])
        result = await Runner.run(
            agent,
            "${task}",
        )
        print(result.final_output)


asyncio.run(main())`

/** Returns why an app elsewhere cannot reach the address; null if it can. */
export function addressProblem(url: string): 'local' | 'plain' | null {
  const { protocol, hostname } = new URL(url)
  if (/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) return 'local'
  return protocol === 'https:' ? null : 'plain'
}
