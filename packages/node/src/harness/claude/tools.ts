/** The tools that the pinned version names when it starts, and those that it brings only where there is somebody to ask. */
export const claudeTools: readonly string[] = [
  ...['Agent', 'AskUserQuestion', 'Bash', 'CronCreate', 'CronDelete', 'CronList', 'Edit', 'EnterPlanMode', 'EnterWorktree'],
  ...['ExitPlanMode', 'ExitWorktree', 'Glob', 'Grep', 'ListAgents', 'LSP', 'Monitor', 'NotebookEdit', 'Read', 'ReportFindings'],
  ...['ScheduleWakeup', 'SendMessage', 'Skill', 'Task', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskOutput', 'TaskStop'],
  ...['TaskUpdate', 'TodoWrite', 'ToolSearch', 'WebFetch', 'WebSearch', 'Workflow', 'Write'],
];
