import { systemClock } from '../../server/src/base/clock.ts'
import type { Db } from '../../server/src/base/db.ts'
import { openKeyStore } from '../../server/src/base/encryption/key-store.ts'
import { decryptLead, type LeadRow } from '../../server/src/leads/lead/encrypted-lead.ts'
import { leadColumns } from '../../server/src/leads/lead/queries.ts'
import { benchMasterKey } from '../workspace.ts'

/** Creates the baseline's tables: the same leads in plain columns, with the indexes that its statements need. */
export async function makeBaselineTables(db: Db, workspaceId: string): Promise<void> {
  const keyring = await openKeyStore(db, { current: benchMasterKey }, systemClock).keyring(workspaceId)
  await db.tx(async (tx) => {
    await tx.unsafe(baselineTables)
    const rows = await tx<LeadRow[]>`select ${leadColumns(tx)} from leads l where l.workspace_id = ${workspaceId}`
    for (let at = 0; at < rows.length; at += 2000) {
      const leads = rows.slice(at, at + 2000).map((row) => decryptLead(keyring, row))
      await tx`
        insert into floor_leads (
          workspace_id, id, unique_code, external_ref, first_name, last_name, email, phone, status, priority, source,
          estimated_value, created_at, updated_at
        )
        select 1, r.* from jsonb_to_recordset(${tx.json(leads as never)}) as r (
          id uuid, "uniqueCode" text, "externalRef" text, "firstName" text, "lastName" text, email text, phone text,
          status text, priority text, source text, "estimatedValue" numeric, "createdAt" timestamptz,
          "updatedAt" timestamptz
        )`
    }
  })
  await db.sql`vacuum analyze floor_leads, leads, lead_search`
}

// Each part of the benchmark starts with new tables.
export const baselineTables = `
  drop table if exists floor_leads, floor_created, floor_tokens, floor_outbox;
  create table floor_leads (
    workspace_id integer not null,
    id uuid not null,
    unique_code text not null,
    external_ref text,
    first_name text not null,
    last_name text,
    email text,
    phone text,
    status text not null,
    priority text not null,
    source text not null,
    ad_platform text,
    assigned_to uuid,
    estimated_value numeric(14, 2),
    actual_value numeric(14, 2),
    notes text,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    deleted_at timestamptz(3),
    primary key (workspace_id, id)
  );
  create unique index on floor_leads (workspace_id, external_ref);
  create index on floor_leads (workspace_id, status, created_at desc, id desc) where deleted_at is null;
  create table floor_created (
    workspace_id integer not null,
    id uuid not null,
    status text not null,
    person bytea not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    primary key (workspace_id, id)
  );
  create table floor_tokens (id uuid primary key, tokens integer[] not null);
  create index on floor_tokens using gin (tokens);
  create table floor_outbox (id uuid primary key, body bytea not null);
`
