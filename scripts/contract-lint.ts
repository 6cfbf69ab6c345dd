import { createConfig, lintFromString } from '@redocly/openapi-core'

/** What Redocly's recommended rules find in an OpenAPI document, as `severity place: message`. Asks no other machine. */
export async function lintContract(document: unknown): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/openapi.json', config })
  return problems.map(({ severity, ruleId, message, location }) => {
    const place = location[0]?.pointer ?? '#/'
    return `${severity} ${place}: ${message} (${ruleId})`
  })
}
