import {
  IconArrowsSplit,
  IconBolt,
  IconBookmark,
  IconBuilding,
  IconBuildings,
  IconClockHour9,
  IconHistory,
  IconHourglass,
  IconInfoCircle,
  IconKey,
  IconListDetails,
  IconLogin2,
  IconMessage2Bolt,
  IconMoodSmile,
  IconNotes,
  IconRobot,
  IconTag,
  IconTargetArrow,
  IconUsers,
  IconWebhook,
  type TablerIcon,
} from '@tabler/icons-react'
import { currentUser, hasRole, type Role } from '../session/session.ts'
import type { t } from '../text/index.ts'

export type SectionName = keyof typeof t.settings.sections

interface SectionInfo {
  name: SectionName
  icon: TablerIcon
  /** Role that may open it; operators may open everything. */
  role: Role | 'operator'
}

const sections: readonly SectionInfo[] = [
  { name: 'workspace', icon: IconBuilding, role: 'member' },
  { name: 'hours', icon: IconClockHour9, role: 'member' },
  { name: 'goals', icon: IconTargetArrow, role: 'member' },
  { name: 'members', icon: IconUsers, role: 'member' },
  { name: 'routing', icon: IconArrowsSplit, role: 'member' },
  { name: 'fields', icon: IconListDetails, role: 'member' },
  { name: 'labels', icon: IconTag, role: 'member' },
  { name: 'replies', icon: IconMessage2Bolt, role: 'member' },
  { name: 'filters', icon: IconBookmark, role: 'member' },
  { name: 'automation', icon: IconBolt, role: 'member' },
  { name: 'satisfaction', icon: IconMoodSmile, role: 'member' },
  { name: 'sources', icon: IconWebhook, role: 'admin' },
  { name: 'agents', icon: IconRobot, role: 'member' },
  { name: 'instructions', icon: IconNotes, role: 'member' },
  { name: 'tokens', icon: IconKey, role: 'owner' },
  { name: 'retention', icon: IconHourglass, role: 'member' },
  { name: 'audit', icon: IconHistory, role: 'admin' },
  { name: 'workspaces', icon: IconBuildings, role: 'operator' },
  { name: 'sso', icon: IconLogin2, role: 'operator' },
  { name: 'about', icon: IconInfoCircle, role: 'member' },
]

export const findSection = (name: string): SectionInfo | undefined => sections.find((one) => one.name === name)

export const mayOpen = (workspaceId: string, { role }: SectionInfo): boolean =>
  role === 'operator' ? currentUser().isOperator : hasRole(workspaceId, role)

export const openSections = (workspaceId: string): SectionInfo[] =>
  sections.filter((section) => mayOpen(workspaceId, section))

/** Returns the anchor of a member in the list. */
export const memberAnchor = (userId: string): string => `member-${userId}`
