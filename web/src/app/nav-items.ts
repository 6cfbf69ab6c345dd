import {
  IconBook,
  IconChartBar,
  IconCheckbox,
  IconChecklist,
  IconCoin,
  IconForms,
  IconHome,
  IconInbox,
  IconKey,
  IconPlugConnected,
  IconRoute,
  IconSettings,
  IconSpeakerphone,
  IconTemplate,
  IconTestPipe,
  IconUsers,
  IconWebhook,
  type TablerIcon,
} from '@tabler/icons-react'
import type { Role } from '../session/session.ts'
import { t } from '../text/index.ts'

export interface NavItem {
  path: string
  title: () => string
  icon: TablerIcon
  /** Second key after `G`. */
  key: string
  /** Pages for daily work are above the divider, setup pages below it. */
  place: 'day' | 'setup'
  role: Role
}

export const navItems: readonly NavItem[] = [
  { path: 'home', title: () => t.common.pages.home, icon: IconHome, key: 'h', place: 'day', role: 'member' },
  { path: 'inbox', title: () => t.common.pages.inbox, icon: IconInbox, key: 'i', place: 'day', role: 'member' },
  { path: 'leads', title: () => t.common.pages.leads, icon: IconUsers, key: 'l', place: 'day', role: 'member' },
  { path: 'forms', title: () => t.common.pages.forms, icon: IconForms, key: 'f', place: 'day', role: 'member' },
  { path: 'tasks', title: () => t.common.pages.tasks, icon: IconCheckbox, key: 'd', place: 'day', role: 'member' },
  {
    path: 'broadcasts',
    title: () => t.common.pages.broadcasts,
    icon: IconSpeakerphone,
    key: 'm',
    place: 'setup',
    role: 'member',
  },
  {
    path: 'sequences',
    title: () => t.common.pages.sequences,
    icon: IconRoute,
    key: 'q',
    place: 'setup',
    role: 'member',
  },
  {
    path: 'knowledge',
    title: () => t.common.pages.knowledge,
    icon: IconBook,
    key: 'a',
    place: 'setup',
    role: 'member',
  },
  {
    path: 'connections',
    title: () => t.common.pages.connections,
    icon: IconPlugConnected,
    key: 'c',
    place: 'setup',
    role: 'member',
  },
  {
    path: 'templates',
    title: () => t.common.pages.templates,
    icon: IconTemplate,
    key: 't',
    place: 'setup',
    role: 'member',
  },
  {
    path: 'scenarios',
    title: () => t.common.pages.scenarios,
    icon: IconTestPipe,
    key: 'a',
    place: 'setup',
    role: 'member',
  },
  { path: 'keys', title: () => t.common.pages.keys, icon: IconKey, key: 'k', place: 'setup', role: 'member' },
  {
    path: 'webhooks',
    title: () => t.common.pages.webhooks,
    icon: IconWebhook,
    key: 'w',
    place: 'setup',
    role: 'member',
  },
  { path: 'review', title: () => t.common.pages.review, icon: IconChecklist, key: 'r', place: 'setup', role: 'member' },
  {
    path: 'reports',
    title: () => t.common.pages.reports,
    icon: IconChartBar,
    key: 'p',
    place: 'setup',
    role: 'member',
  },
  { path: 'costs', title: () => t.common.pages.costs, icon: IconCoin, key: 'b', place: 'setup', role: 'admin' },
  {
    path: 'settings',
    title: () => t.common.pages.settings,
    icon: IconSettings,
    key: 's',
    place: 'setup',
    role: 'member',
  },
]
