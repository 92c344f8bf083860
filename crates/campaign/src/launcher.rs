//! Files for the schedulers that run the shards. They place processes, limit and repeat them; all else is in the manifest.

use std::path::Path;

use crate::manifest::Manifest;

/// Who runs the shards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Launcher {
    /// A job array of Slurm.
    Slurm,
    /// An Indexed Job of Kubernetes.
    Kubernetes,
    /// GNU parallel, on one machine or several.
    Parallel,
}

/// What runs in a pod.
#[derive(Clone, Debug)]
pub struct Container<'a> {
    /// The image, in which the command, and the program, are.
    pub image: &'a str,
    /// The claim of the volume that has the directory of the campaign.
    pub claim: &'a str,
}

/// Arrays have no more tasks unless the cluster's `MaxArraySize` says so.
const USUAL_ARRAY: u64 = 1000;

impl Launcher {
    /// The launcher's own file.
    ///
    /// `command` is the warpgrind command, `manifest` where the manifest is, and `out` the directory of the campaign, all absolute.
    pub fn file(
        self,
        campaign: &Manifest,
        command: &str,
        manifest: &str,
        out: &str,
        shards: u64,
        container: &Container<'_>,
    ) -> String {
        let id = &campaign.id()[..12];
        match self {
            Self::Slurm => slurm(id, command, manifest, out, shards),
            Self::Kubernetes => kubernetes(id, manifest, out, shards, container),
            Self::Parallel => parallel(id, command, manifest, out, shards),
        }
    }
}

/// A word as a shell reads it.
fn word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn slurm(id: &str, command: &str, manifest: &str, out: &str, shards: u64) -> String {
    let limit = match shards > USUAL_ARRAY {
        true => {
            "# Clusters allow 1000 tasks unless MaxArraySize in slurm.conf says more: `scontrol show config` tells.\n"
        }
        false => "",
    };
    format!(
        "#!/bin/sh\n\
         # Campaign {id} of warpgrind: sbatch FILE. Run it again after `warpgrind campaign check`: what is there is not run twice.\n\
         {limit}\
         #SBATCH --job-name=warpgrind-{id}\n\
         #SBATCH --array=1-{shards}\n\
         #SBATCH --ntasks=1\n\
         #SBATCH --cpus-per-task=1\n\
         # A task whose node is lost runs again.\n\
         #SBATCH --requeue\n\
         #SBATCH --open-mode=append\n\
         exec {} campaign run --manifest {} --shard \"$SLURM_ARRAY_TASK_ID/{shards}\" --out {}\n",
        word(command),
        word(manifest),
        word(out)
    )
}

fn parallel(id: &str, command: &str, manifest: &str, out: &str, shards: u64) -> String {
    format!(
        "#!/bin/sh\n\
         # Campaign {id} of warpgrind: sh FILE, with flags of GNU parallel such as --jobs 8 or --sshloginfile HOSTS after that.\n\
         # Shards that failed run again, those that are done do not.\n\
         seq {shards} | parallel \"$@\" --resume-failed --joblog {} --retries 3 --quote \\\n    \
         {} campaign run --manifest {} --shard {{}}/{shards} --out {}\n",
        word(&format!("{out}.joblog")),
        word(command),
        word(manifest),
        word(out)
    )
}

/// JSON strings are strings of YAML.
fn yaml(text: &str) -> String {
    serde_json::to_string(text).expect("a string can be written")
}

fn kubernetes(id: &str, manifest: &str, out: &str, shards: u64, container: &Container<'_>) -> String {
    let directory = Path::new(out).parent().map_or("/".to_owned(), |parent| parent.display().to_string());
    let script = format!(
        "exec warpgrind campaign run --manifest {} --shard \"$((JOB_COMPLETION_INDEX + 1))/{shards}\" --out {}",
        word(manifest),
        word(out)
    );
    // What looks like a variable to Kubernetes is none.
    let script = script.replace('$', "$$");
    format!(
        "# Campaign {id} of warpgrind: kubectl apply -f FILE. The image has warpgrind, the program and its inputs at the paths of the\n\
         # manifest; the claim is a volume that all pods can write, with the manifest in it.\n\
         apiVersion: batch/v1\n\
         kind: Job\n\
         metadata:\n  \
           name: warpgrind-{id}\n\
         spec:\n  \
           completionMode: Indexed\n  \
           completions: {shards}\n  \
           parallelism: {}\n  \
           backoffLimitPerIndex: 3\n  \
           podFailurePolicy:\n    \
             rules:\n      \
               # A node that is lost or drained is no fault of the shard.\n      \
               - action: Ignore\n        \
                 onPodConditions:\n          \
                   - type: DisruptionTarget\n            \
                     status: \"True\"\n  \
           template:\n    \
             spec:\n      \
               restartPolicy: Never\n      \
               containers:\n        \
                 - name: shard\n          \
                   image: {}\n          \
                   command: [\"/bin/sh\", \"-c\", {}]\n          \
                   resources:\n            \
                     requests:\n              \
                       cpu: \"1\"\n          \
                   volumeMounts:\n            \
                     - name: campaign\n              \
                       mountPath: {}\n      \
               volumes:\n        \
                 - name: campaign\n          \
                   persistentVolumeClaim:\n            \
                     claimName: {}\n",
        shards.min(USUAL_ARRAY),
        yaml(container.image),
        yaml(&script),
        yaml(&directory),
        yaml(container.claim)
    )
}
