// `validate`: what would be run, or what is wrong with it.
import {ManifestError} from '../../core/errors.js';
import {EXIT} from '../exit-codes.js';
import {toJson, toYaml, type OutputFormat} from '../output/output.js';
import type {Session} from '../session.js';
import {loadManifests, type ManifestRequest} from './manifests.js';
import {renderPosition, renderProblem} from './render-problem.js';

/** Prints each pod that would be run. Throws ManifestError when something is wrong; json and yaml say it in the document. */
export async function validateManifests(
  session: Session,
  request: ManifestRequest,
  format: OutputFormat,
): Promise<void> {
  const {pods, problems, skipped} = await loadManifests(session, request);
  const valid = !problems.some(({severity}) => severity === 'error');
  if (format === 'json' || format === 'yaml') {
    const named = pods.map(({pod: {metadata}, position}) => {
      const {namespace, name, uid} = metadata;
      return {namespace, name, uid, position};
    });
    const head = {apiVersion: 'minikubelet.dev/v1', kind: 'ValidationReport', valid};
    const document = {...head, pods: named, skipped, problems};
    session.out(format === 'json' ? toJson(document) : await toYaml(document));
    if (!valid) process.exitCode = EXIT.manifest;
    return;
  }
  if (!valid) throw new ManifestError(problems);
  session.err(...problems.map(renderProblem));
  for (const {pod, position} of pods) {
    const name = `pod/${pod.metadata.name}`;
    session.out(format === 'name' ? name : `${name} valid (${renderPosition(position)})`);
  }
  if (pods.length === 0) session.err('No pods are defined.');
}
