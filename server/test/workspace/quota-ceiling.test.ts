import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../src/base/errors.ts'
import { changedQuota, firstQuota, type Quota } from '../../src/workspace/quota-ceiling.ts'
import { operatorToken, type SignedIn, teamWorld } from '../support/team-app.ts'

const { team, send } = await teamWorld()

async function patch(as: SignedIn | string, workspaceId: string, body: object): Promise<unknown[]> {
  const answer = await send(as, 'PATCH', `/workspaces/${workspaceId}`, body)
  const { workspace, data } = answer.json()
  return answer.statusCode === 200
    ? [200, workspace.dailyLeadQuota, workspace.dailyLeadQuotaCeiling]
    : [answer.statusCode, data?.issues?.[0]?.path]
}

test('admins and owners set the quota up to a ceiling that only an operator moves', async () => {
  const { workspaceId, owner, admin } = await team()
  for (const as of [admin, owner]) {
    assert.deepEqual(await patch(as, workspaceId, { dailyLeadQuota: 0 }), [400, 'dailyLeadQuota'])
    assert.deepEqual(await patch(as, workspaceId, { dailyLeadQuota: 100_001 }), [400, 'dailyLeadQuota'])
    assert.deepEqual(await patch(as, workspaceId, { dailyLeadQuotaCeiling: 0 }), [403, undefined])
    assert.deepEqual(await patch(as, workspaceId, { dailyLeadQuota: 5 }), [200, 5, 100_000])
    assert.deepEqual(await patch(as, workspaceId, { dailyLeadQuota: 100_000 }), [200, 100_000, 100_000])
  }
  assert.deepEqual(await patch(operatorToken, workspaceId, { dailyLeadQuotaCeiling: 200 }), [200, 200, 200])
  assert.deepEqual(await patch(admin, workspaceId, { dailyLeadQuota: 201 }), [400, 'dailyLeadQuota'])
  assert.deepEqual(await patch(operatorToken, workspaceId, { dailyLeadQuota: 300 }), [200, 300, 300])
  assert.deepEqual(await patch(operatorToken, workspaceId, { dailyLeadQuota: 0 }), [200, 0, 0])
  assert.deepEqual(await patch(admin, workspaceId, { dailyLeadQuota: 7 }), [200, 7, 0])
  assert.deepEqual(await patch(admin, workspaceId, { dailyLeadQuota: 0 }), [200, 0, 0])
})

test('the quota that an operator gives a new workspace is its ceiling, unless they give one', async () => {
  const make = async (body: object) => {
    const answer = await send(operatorToken, 'POST', '/workspaces', { name: 'New', ...body })
    const { workspace } = answer.json()
    return answer.statusCode === 201 ? [workspace.dailyLeadQuota, workspace.dailyLeadQuotaCeiling] : answer.statusCode
  }
  assert.deepEqual(await make({}), [100_000, 100_000])
  assert.deepEqual(await make({ dailyLeadQuota: 50 }), [50, 50])
  assert.deepEqual(await make({ dailyLeadQuota: 50, dailyLeadQuotaCeiling: 80 }), [50, 80])
  assert.deepEqual(await make({ dailyLeadQuotaCeiling: 80 }), [80, 80])
  assert.equal(await make({ dailyLeadQuota: 90, dailyLeadQuotaCeiling: 80 }), 400)
})

const changes: [before: Quota, wanted: Partial<Quota>, isOperator: boolean, after: Quota | number][] = [
  [{ quota: 9, ceiling: 5 }, { quota: 9 }, false, { quota: 9, ceiling: 5 }],
  [{ quota: 9, ceiling: 5 }, { quota: 8 }, false, 400],
  [{ quota: 9, ceiling: 5 }, {}, false, { quota: 9, ceiling: 5 }],
  [{ quota: 0, ceiling: 0 }, { quota: 3 }, false, { quota: 3, ceiling: 0 }],
  [{ quota: 5, ceiling: 5 }, { ceiling: 5 }, false, 403],
  [{ quota: 5, ceiling: 5 }, { quota: 0 }, true, { quota: 0, ceiling: 0 }],
  [{ quota: 5, ceiling: 5 }, { quota: 4 }, true, { quota: 4, ceiling: 5 }],
  [{ quota: 0, ceiling: 0 }, { ceiling: 5 }, true, { quota: 5, ceiling: 5 }],
  [{ quota: 3, ceiling: 5 }, { ceiling: 0 }, true, { quota: 3, ceiling: 0 }],
  [{ quota: 3, ceiling: 5 }, { quota: 6, ceiling: 5 }, true, 400],
  [{ quota: 3, ceiling: 5 }, { quota: 0, ceiling: 0 }, true, { quota: 0, ceiling: 0 }],
]

test('what becomes of quota and ceiling', () => {
  for (const [before, wanted, isOperator, expected] of changes) {
    const label = JSON.stringify([before, wanted, isOperator])
    if (typeof expected === 'object') assert.deepEqual(changedQuota(before, wanted, isOperator), expected, label)
    else {
      const refusal = (error: unknown) => error instanceof ApiError && error.statusCode === expected
      assert.throws(() => changedQuota(before, wanted, isOperator), refusal, label)
    }
  }
  assert.deepEqual(firstQuota({ ceiling: 0 }), { quota: 100_000, ceiling: 0 })
})
