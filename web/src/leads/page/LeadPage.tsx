import { ActionIcon, Skeleton } from '@mantine/core'
import { IconArrowLeft, IconTrash } from '@tabler/icons-react'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { useLeadFields } from '../../data/lead-fields.ts'
import type { Lead } from '../../data/leads.ts'
import { useLiveLeads } from '../../data/leads-live.ts'
import { type ResolvedLead, useLeadOrMergeTarget } from '../../data/merges.ts'
import { usePeople } from '../../data/people.ts'
import { useCurrency, useStatuses } from '../../data/workspace.ts'
import { EraseButton } from '../../shared/EraseButton.tsx'
import { readSavedQuery } from '../../shared/lead-view/address.ts'
import { t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { PageHeader } from '../../ui/page/PageHeader.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import visuallyHidden from '../../ui/visually-hidden.module.css'
import { useLeadActions } from '../fields/change.ts'
import { nameOf } from '../fields/lead.ts'
import { lastListQuery } from '../fields/use-address.ts'
import { LeadLabels } from '../labels/LeadLabels.tsx'
import { AlsoFoundBy } from '../merge/AlsoFoundBy.tsx'
import { MergeButton } from '../merge/MergeButton.tsx'
import { MergedInto } from '../merge/MergedInto.tsx'
import { MessageButton } from '../message/MessageButton.tsx'
import { CustomFields } from '../panel/CustomFields.tsx'
import { Duplicates } from '../panel/Duplicates.tsx'
import { LeadConsent } from '../panel/LeadConsent.tsx'
import { LeadConversations } from '../panel/LeadConversations.tsx'
import { LeadFields } from '../panel/LeadFields.tsx'
import { LeadOrigin } from '../panel/LeadOrigin.tsx'
import { LeadTasks, SequencesOfLead } from '../panel/LeadTasks.tsx'
import { Timeline } from '../timeline/Timeline.tsx'
import styles from './LeadPage.module.css'

/** Page of a lead: fields on one side, timeline on the other. */
export function LeadPage() {
  const workspaceId = useWorkspaceId()
  const { leadId = '' } = useParams({ strict: false })
  const navigate = useNavigate()
  const { lead, merged, isDeleted, error, retry } = useLeadOrMergeTarget(workspaceId, leadId)
  useLiveLeads(workspaceId)
  useTitle(lead)
  const back = () => void navigate({ to: '/w/$workspaceId/leads', params: { workspaceId }, search: backSearch() })
  const open = ({ id }: Lead) =>
    void navigate({ to: '/w/$workspaceId/leads/$leadId', params: { workspaceId, leadId: id } })
  if (isDeleted) {
    const { notFound, notFoundHelp, notFoundAction } = t.leadPage
    return <EmptyState isPage title={notFound} help={notFoundHelp} action={{ label: notFoundAction, run: back }} />
  }
  return (
    <>
      <PageHeader
        title={lead === undefined ? t.leads.title : nameOf(lead)}
        before={<BackToList lead={lead} />}
        action={lead !== undefined && <Actions lead={lead} open={open} back={back} />}
      />
      {lead === undefined && error !== null && <ErrorState error={error} retry={retry} />}
      {lead === undefined && error === null && <Skeleton height={320} m={16} />}
      {lead !== undefined && <Columns key={lead.id} lead={lead} merged={merged} open={open} back={back} />}
    </>
  )
}

/** Returns the query of the list that the reader came from. */
const backSearch = () => readSavedQuery(lastListQuery())

function BackToList({ lead }: { lead: Lead | undefined }) {
  const workspaceId = useWorkspaceId()
  return (
    <>
      <Link
        to="/w/$workspaceId/leads"
        params={{ workspaceId }}
        search={backSearch()}
        className={styles.back ?? ''}
        aria-label={`${t.common.back}: ${t.leadPage.backTo}`}
      >
        <IconArrowLeft size={18} />
        <span>{t.leadPage.backTo}</span>
      </Link>
      {lead !== undefined && <Avatar name={nameOf(lead)} size={28} />}
    </>
  )
}

interface ActionsProps {
  lead: Lead
  open(lead: Lead): void
  back(): void
}

function Actions({ lead, open, back }: ActionsProps) {
  const workspaceId = useWorkspaceId()
  const actions = useLeadActions(workspaceId)
  const people = usePeople(workspaceId)
  const name = nameOf(lead)
  const remove = () => {
    back()
    void actions.remove([{ id: lead.id, name }])
  }
  return (
    <>
      <MessageButton lead={lead} />
      <MergeButton lead={{ id: lead.id, name }} otherId={null} people={people} onMerged={open} />
      <ActionIcon variant="subtle" color="gray" onClick={remove} aria-label={t.common.delete}>
        <IconTrash size={16} />
      </ActionIcon>
    </>
  )
}

function Columns({ lead, merged, open, back }: ActionsProps & Pick<ResolvedLead, 'merged'>) {
  const workspaceId = useWorkspaceId()
  const actions = useLeadActions(workspaceId)
  const [people, statuses] = [usePeople(workspaceId), useStatuses(workspaceId)]
  const fields = useLeadFields(workspaceId)
  const currency = useCurrency(workspaceId)
  const context = useMemo(() => ({ people, statuses, fields, currency }), [people, statuses, fields, currency])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard
    <div className={styles.columns} tabIndex={0}>
      <div className={styles.facts}>
        <h2 className={visuallyHidden.hidden}>{t.leads.panel.details}</h2>
        <MergedInto merged={merged} />
        <Duplicates lead={lead} people={people} open={open} />
        <LeadLabels lead={lead} />
        <LeadFields lead={lead} context={context} actions={actions} />
        <CustomFields lead={lead} currency={currency} actions={actions} />
        <AlsoFoundBy leadId={lead.id} />
        <LeadConsent lead={lead} />
        <LeadOrigin leadId={lead.id} />
        <LeadConversations lead={lead} people={people} />
        <LeadTasks leadId={lead.id} />
        <SequencesOfLead leadId={lead.id} />
        <EraseButton name={{ leadId: lead.id }} onDone={back} />
      </div>
      <div className={styles.timeline}>
        <Timeline lead={lead} people={people} />
      </div>
    </div>
  )
}

/** Shows the name in the title of the tab. */
function useTitle(lead: Lead | undefined): void {
  const name = lead === undefined ? null : nameOf(lead)
  useEffect(() => {
    if (name !== null) document.title = `${name} · ${t.common.product}`
  }, [name])
}
