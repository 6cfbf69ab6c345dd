import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ComponentProps } from 'react'
import { changeLead } from '../../data/change-lead.ts'
import { createLead } from '../../data/inbox/customer.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { type Lead, type LeadChanges, useLead } from '../../data/leads.ts'
import { isAway, useMemberList } from '../../data/team/members.ts'
import { useWorkspace } from '../../data/workspace.ts'
import { t } from '../../text/index.ts'
import { statusName } from '../../ui/format/lead-texts.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useBusy } from '../parts/use-busy.ts'
import styles from './Customer.module.css'
import { CustomFields } from './CustomFields.tsx'
import { Choice, TextValue } from './EditInPlace.tsx'
import { type Fact, Facts, Section } from './Section.tsx'

/** Lead of the customer; important fields can be edited in place. */
export function LeadCard({ leadId }: { leadId: string }) {
  const workspaceId = useWorkspaceId()
  const query = useLead(workspaceId, leadId)
  return (
    <QueryBoundary query={query} rows={4}>
      {(lead) => <LeadFacts lead={lead} />}
    </QueryBoundary>
  )
}

function LeadFacts({ lead }: { lead: Lead }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const change = (changes: LeadChanges) =>
    void changeLead(queries, workspaceId, lead, changes).then((error) => error !== null && showError(error))
  return (
    <>
      <Section title={t.customer.lead}>
        <Facts facts={useEditableFacts(workspaceId, lead, change)} />
        {lead.notes !== null && (
          <p className={styles.remark} dir="auto">
            {lead.notes}
          </p>
        )}
        <Link className={styles.more} to="/w/$workspaceId/leads" params={{ workspaceId }} search={{ lead: lead.id }}>
          {t.customer.openLead}
        </Link>
      </Section>
      <CustomFields lead={lead} change={change} />
    </>
  )
}

const amountRule = { type: 'amount', choices: [] } as const

function useEditableFacts(workspaceId: string, lead: Lead, change: (changes: LeadChanges) => void): (Fact | false)[] {
  const { data: workspace } = useWorkspace(workspaceId)
  const members = useMemberList(workspaceId)
  const texts = t.customer
  const statuses = [...new Set([...(workspace?.leadStatuses ?? []), lead.status])]
  const priorities = Object.entries(t.lead.priorities).map(([value, label]) => ({ value, label }))
  const people = [
    { value: '', label: texts.nobody },
    ...members.map(({ userId, name, ...one }) => ({
      value: userId,
      label: isAway(one) ? `${name} · ${t.common.away}` : name,
    })),
  ]
  const choice = (label: string, choice: Omit<ComponentProps<typeof Choice>, 'label'>): Fact => ({
    name: label,
    value: <Choice label={label} {...choice} />,
  })
  return [
    choice(texts.status, {
      value: lead.status,
      options: statuses.map((value) => ({ value, label: statusName(value) })),
      change: (status) => change({ status }),
    }),
    {
      name: texts.value,
      value: (
        <TextValue
          label={texts.value}
          rule={amountRule}
          value={lead.estimatedValue === null ? undefined : String(lead.estimatedValue)}
          currency={workspace?.currency ?? null}
          change={(value) => change({ estimatedValue: value === null ? null : Number(value) })}
        />
      ),
    },
    choice(texts.owner, {
      value: lead.assignedTo ?? '',
      options: people,
      change: (userId) => change({ assignedTo: userId === '' ? null : userId }),
    }),
    choice(texts.priority, {
      value: lead.priority,
      options: priorities,
      change: (priority) => change({ priority: priority as Lead['priority'] }),
    }),
    { name: texts.source, value: t.lead.sources[lead.source] },
    lead.email !== null && { name: texts.email, value: <a href={`mailto:${lead.email}`}>{lead.email}</a> },
    { name: texts.code, value: <code>{lead.uniqueCode}</code> },
  ]
}

/** Shown for customers without a lead. */
export function NoLead({ conversation }: { conversation: Conversation }) {
  const inbox = useInbox()
  const [isBusy, run] = useBusy()
  const { id, contact } = conversation
  const create = async () => {
    const { firstName } = await createLead(inbox, id, contact)
    showToast(t.customer.created({ name: firstName }))
  }
  return (
    <Section title={t.customer.lead}>
      <p className={styles.muted}>{t.customer.noLead}</p>
      <Button size="compact-sm" variant="default" loading={isBusy} onClick={() => void run(create)}>
        {t.customer.createLead}
      </Button>
    </Section>
  )
}
