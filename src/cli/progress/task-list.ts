// The live view on a terminal: a listr2 task list with one task a pod that says what happens to it right now.
import type {AgentEvent, Report} from '../../core/events.js';
import {podKey} from '../../core/pod/types.js';
import {renderPosition} from '../manifests/render-problem.js';
import {stripControl} from '../output/table.js';
import {advance, progressTitle, type PodProgress, type PodState, type Progress} from './pod-progress.js';

export interface TaskListView {
  readonly report: Report;
  /** Adds a line that stays, e.g. a hint after Ctrl-C. */
  readonly note: (text: string) => void;
  /** The last word on a pod: replaces what its task says. */
  readonly settle: (uid: string, state: PodState, text: string) => void;
  /** Draws the list a last time and gives the terminal back. */
  readonly close: () => Promise<void>;
}

/** A task as the view needs it: listr2's own, driven by its state instead of by a function. */
interface LiveTask {
  show(title: string, state: PodState | 'note'): void;
}

/**
 * Starts a task list on `stream`. Loads listr2, so call it only when there is a terminal. listr2 is kept from three of
 * its habits: its signal listener (ends the process with 127), its error collection, and running tasks itself: pods
 * come and go while the list is shown, so each task is driven by the events.
 */
export async function openTaskList(stream: NodeJS.WriteStream): Promise<TaskListView> {
  const {DefaultRenderer, Listr, ListrLogger, ListrTaskState, ProcessOutput} = await import('listr2');
  // Asked before, and for standard error: listr2 itself would look at standard output.
  class Renderer extends DefaultRenderer {
    static override nonTTY = true;
  }
  const started = gate();
  const finished = gate();
  // Keeps the list open. Tasks added before it runs would be run by listr2 too, and be done at once.
  const keeper = {
    task: () => {
      started.open();
      return finished.opened;
    },
  };
  const logger = new ListrLogger({useIcons: true, toStderr: [], processOutput: new ProcessOutput(stream, stream)});
  const list = new Listr<object, typeof Renderer, 'silent'>([keeper], {
    concurrent: true,
    exitOnError: false,
    collectErrors: false,
    registerSignalListeners: false,
    renderer: Renderer,
    fallbackRenderer: 'silent',
    fallbackRendererCondition: false,
    rendererOptions: {
      logger,
      collapseSkips: false,
      collapseErrors: false,
      showErrorMessage: false,
      formatOutput: 'truncate',
    },
  });
  const running = list.run();
  await started.opened;
  const states = {
    working: ListrTaskState.STARTED,
    up: ListrTaskState.COMPLETED,
    failed: ListrTaskState.FAILED,
    gone: ListrTaskState.COMPLETED,
    note: ListrTaskState.SKIPPED,
  };
  const newTask = (): LiveTask => {
    list.add({title: ' ', task: () => undefined});
    const task = list.tasks.at(-1);
    void task?.check({});
    return {
      show(title, state) {
        if (task === undefined) return;
        task.title$ = stripControl(title).replaceAll('\n', ' ');
        task.state$ = states[state];
      },
    };
  };
  return viewOf(newTask, async () => {
    finished.open();
    await running;
  });
}

interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

function gate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  return {opened, open: () => open()};
}

function viewOf(newTask: () => LiveTask, close: () => Promise<void>): TaskListView {
  const tasks = new Map<string, LiveTask>();
  const settled = new Set<string>();
  let progress: Progress = new Map();
  const show = (pod: PodProgress): void => {
    if (settled.has(pod.pod.uid)) return;
    const task = tasks.get(pod.pod.uid) ?? newTask();
    tasks.set(pod.pod.uid, task);
    task.show(progressTitle(pod), pod.state);
  };
  const note = (text: string): void => newTask().show(text, 'note');
  return {
    note,
    close,
    report(event) {
      if (event.kind === 'notice') note(noticeText(event));
      const next = advance(progress, event);
      if (next === progress || event.kind === 'notice') return;
      progress = next;
      const pod = progress.get(event.pod.uid);
      if (pod !== undefined) show(pod);
    },
    settle(uid, state, text) {
      const pod = progress.get(uid);
      if (pod === undefined) return;
      show({...pod, state, text});
      settled.add(uid);
    },
  };
}

function noticeText(event: AgentEvent & {kind: 'notice'}): string {
  const place = event.position === undefined ? '' : `${renderPosition(event.position)}: `;
  const pod = event.pod === undefined ? '' : `${podKey(event.pod)}  `;
  return `${pod}${place}${event.message}`;
}
