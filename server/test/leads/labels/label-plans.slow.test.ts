import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statementsOf, vacuum } from '../../support/database.ts'
import { fillLeads } from '../../support/fill.ts'
import { signedInMember } from '../../support/member.ts'
import { badPlans, forgetStatistics, wideLooks } from '../../support/plans.ts'
import { world } from '../../support/world.ts'

const tables = ['leads', 'lead_labels']

test('filters by label, labels of a page and their changes go by index, those of labels also before the database has counted', async () => {
  const w = await world({ dailyLeadQuota: 0 })
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  await fillLeads({ ...w, keyring: await w.vault.keyring(w.workspaceId), now: w.clock.now() }, 10_000)
  const ids: string[] = []
  for (const name of ['Often', 'Seldom']) {
    ids.push((await admin.call('POST', '/labels', { name, color: 'teal' })).body.label.id)
  }
  const [often = '', seldom = ''] = ids
  await w.db.sql`
    insert into lead_labels (workspace_id, lead_id, label_id)
    select workspace_id, id, case when n % 50 = 0 then ${seldom}::uuid else ${often}::uuid end
    from (select *, row_number() over (order by id) as n from leads where workspace_id = ${w.workspaceId}) as l
    where n % 2 = 0`
  const lead = await w.lead()
  const use = async () => {
    for (const query of [
      `labels=${often}`,
      `labels=${seldom},${often}`,
      `withoutLabels=${often}`,
      'sortBy=updatedAt',
    ]) {
      assert.equal((await member.call('GET', `/leads?limit=10&${query}`)).status, 200)
    }
    assert.equal((await member.call('GET', `/leads/${lead.id}`)).status, 200)
    for (const labelIds of [[often], [seldom], []]) {
      assert.equal((await member.call('PUT', `/leads/${lead.id}/labels`, { labelIds })).status, 200)
    }
  }
  // Few leads have it: these are looked up by their ids, whatever is asked of them.
  const useSeldom = async () => {
    for (const more of ['', '&sortBy=name', '&sortBy=status', '&where=estimatedValue.empty']) {
      const { status, body } = await member.call('GET', `/leads?limit=10&labels=${seldom}${more}`)
      assert.deepEqual([status, body.total, body.leads.length], [200, 200, 10], more)
    }
  }
  // These look at all leads, and at labels by index.
  const useConditions = async () => {
    for (const query of [
      `where=labels.is.${seldom};estimatedValue.empty&match=any`,
      `where=labels.isNot.${often};labels.notEmpty`,
      'where=labels.empty;email.notEmpty&match=any',
      `where=labels.is.${seldom};labels.notEmpty&sortBy=name`,
    ]) {
      assert.equal((await member.call('GET', `/leads?limit=10&${query}`)).status, 200)
    }
  }
  await vacuum()
  assert.deepEqual(await badPlans(w.db, await statementsOf(use), tables), [])
  assert.deepEqual(await badPlans(w.db, await statementsOf(useConditions), ['lead_labels']), [])
  const seldomLooks = async () => {
    const statements = await statementsOf(useSeldom)
    const ofAll = statements.filter(({ text }) => /lead_labels/.test(text) && /from leads l\b/.test(text))
    assert.deepEqual(ofAll, [], 'no other lead is looked at')
    return [...(await badPlans(w.db, statements, tables)), ...(await wideLooks(w.db, statements, 'leads'))]
  }
  assert.deepEqual(await seldomLooks(), [])
  await forgetStatistics(w.db, tables)
  assert.deepEqual(await seldomLooks(), [])
  assert.deepEqual(await badPlans(w.db, await statementsOf(use), ['lead_labels']), [])
  assert.deepEqual(await badPlans(w.db, await statementsOf(useConditions), ['lead_labels']), [])
})
