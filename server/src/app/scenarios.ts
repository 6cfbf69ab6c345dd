import { ApiError } from '../base/errors.ts'
import { localUrl } from '../base/outgoing/address.ts'
import type { App } from '../base/route.ts'
import { createJudge } from '../scenarios/run/judge.ts'
import type { TeamCall } from '../scenarios/run/prepare-sandbox.ts'
import { createScenarioRuns } from '../scenarios/run/start-run.ts'
import { scenarioTeamRoutes } from '../scenarios/scenario-routes.ts'
import type { TeamGuard } from '../team/member.ts'
import { simulatorUrlOf } from './inbox.ts'
import type { Runtime } from './runtime.ts'

/** Serves scenarios. Their runs are clients of the team API of this process. */
export function serveScenarios(app: App, runtime: Runtime, guard: TeamGuard): void {
  const { config, outgoing } = runtime
  const { http, judge, simulator } = config
  const deps = {
    ...runtime,
    call: teamCallOf(app, runtime.localToken ?? config.teamToken ?? ''),
    simulatorUrl: simulatorUrlOf(config),
    // A simulator elsewhere reaches the service as everybody does.
    ownUrl: simulator.url === null ? localUrl(http.host, http.port) : http.publicUrl,
    publicUrl: http.publicUrl,
    judge: judge === null ? null : createJudge(outgoing, judge),
  }
  const runs = createScenarioRuns(deps)
  app.addHook('preClose', () => runs.close())
  scenarioTeamRoutes(app, deps, runs, guard)
}

function teamCallOf(app: App, token: string): TeamCall {
  return async <Answer>(...[method, path, body, headers]: Parameters<TeamCall>): Promise<Answer> => {
    const reply = await app.inject({
      method,
      url: `/api/team/v1${path}`,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { payload: body }),
    })
    const answer = JSON.parse(reply.body)
    if (reply.statusCode < 400) return answer
    throw new ApiError(reply.statusCode, answer.statusMessage ?? 'Refused', { data: answer.data })
  }
}
