"""Checks what `helm template` prints: chart-check.py PLAIN.yml ALL.yml. The first has the required settings only, the
second is of ci/all-values.yaml. Prints each fault; the exit code is 1 if there is one."""
import sys
import yaml

FAULTS = []


def check(holds, fault):
    if not holds:
        FAULTS.append(fault)


def load(path):
    with open(path, encoding="utf-8") as file:
        return [one for one in yaml.safe_load_all(file) if one]


def pod_of(one):
    spec = one["spec"]
    if one["kind"] == "Pod":
        return spec
    if one["kind"] == "CronJob":
        return spec["jobTemplate"]["spec"]["template"]["spec"]
    return spec["template"]["spec"]


def workloads(objects):
    """Each pod by the name of its object, such as gateway-api."""
    kinds = ("Deployment", "Job", "CronJob", "Pod")
    return {one["metadata"]["name"]: pod_of(one) for one in objects if one["kind"] in kinds}


def variables(container):
    """The value of each variable, or the key that it is read from: Secret/KEY, and ? if it may be missing."""
    found = {}
    for one in container["env"]:
        key = one.get("valueFrom", {}).get("secretKeyRef")
        check(one["name"] not in found, f"{container['name']}: {one['name']} is set twice")
        found[one["name"]] = (
            one.get("value") if key is None else key["name"] + "/" + key["key"] + "?" * key["optional"]
        )
    return found


def find(objects, kind, name):
    return next((o for o in objects if o["kind"] == kind and o["metadata"]["name"] == name), None)


def every_pod(pods):
    for name, pod in pods.items():
        check(pod["securityContext"]["runAsNonRoot"], f"{name} may run as root")
        check(pod["automountServiceAccountToken"] is False, f"{name} has a token of Kubernetes")
        for container in pod["containers"]:
            own = container["securityContext"]
            check(own["readOnlyRootFilesystem"] and own["capabilities"] == {"drop": ["ALL"]}, f"{name} is not restricted")
            check("requests" in container["resources"], f"{name} requests no resources")


def probes(pods):
    for name, pod in pods.items():
        container = pod["containers"][0]
        if container["name"] not in ("api", "worker", "wallet"):
            continue
        start = container["startupProbe"]
        check(start["httpGet"]["path"] == "/healthz", f"{name}: a pod that starts during an outage is restarted")
        check(start["periodSeconds"] * start["failureThreshold"] >= 300, f"{name}: a slow start is given up")
        ready = container["readinessProbe"]["httpGet"]["path"]
        wanted = "/healthz" if container["name"] == "wallet" else "/servingz"
        check(ready == wanted, f"{name}: an outage of PostgreSQL or Temporal makes it unready ({ready})")
        live = container["livenessProbe"]
        check(live.get("httpGet", {}).get("path") == "/healthz", f"{name}: nothing restarts it when it hangs")
        check(live["timeoutSeconds"] * live["failureThreshold"] <= 60, f"{name}: it hangs for too long")


def settings(pods):
    env = {name: variables(pod["containers"][0]) for name, pod in pods.items()}
    payouts, webhooks = env["gateway-worker-payouts-1"], env["gateway-worker-webhooks-1"]
    providers = "payments-gateway-providers/"
    for name in ("gateway-api", "gateway-worker-payouts-1", "gateway-worker-payments-1"):
        check(env[name].get("SCREENING_URL") == "http://screening:8080", f"{name} lacks SCREENING_URL")
        for key in ("SCREENING_API_KEY", "ONCHAIN_LIVE_API_KEY", "ONCHAIN_LIVE_CALLBACK_SECRET"):
            check(env[name].get(key) == providers + key, f"{name} starts without {key}")
        check(env[name]["EXCHANGE_PAY_LIVE_API_KEY"].endswith("?"), f"{name} requires a provider that is not used")
    foreign = [key for key in webhooks if key.startswith(("ONCHAIN", "EXCHANGE", "SCREENING", "SMTP", "MAIL"))]
    check(foreign == [], f"the workers of webhooks have {foreign}")
    mailers = [name for name, own in env.items() if "SMTP_URL" in own]
    check(mailers == ["gateway-worker-payouts-1", "gateway-worker-payouts-0-9-1"], f"SMTP_URL is given to {mailers}")
    signed_in = [name for name, own in env.items() if "OIDC_CLIENT_SECRET" in own]
    check(signed_in == ["gateway-api"], f"OIDC_CLIENT_SECRET is given to {signed_in}")
    migrate = set(env["gateway-migrate"])
    check(migrate == {"DATABASE_OWNER_URL", "NODE_EXTRA_CA_CERTS"}, f"the job migrate has {migrate}")
    check(set(env["gateway-wallet-migrate"]) >= {"WALLET_DATABASE_OWNER_URL"}, "wallet-migrate lacks its login")
    check("WALLET_DATABASE_OWNER_URL" not in env["gateway-wallet"], "the wallet has the login that owns its schema")
    check(env["gateway-wallet"]["ONCHAIN_LIVE_API_KEY"] == "payments-gateway-wallet/ONCHAIN_LIVE_API_KEY", "the wallet's key")
    check("TEMPORAL_UI_URL" not in env["gateway-wallet"], "the wallet has TEMPORAL_UI_URL")
    tls = ("TEMPORAL_TLS_CLIENT_CERT_PATH", "TEMPORAL_TLS_CLIENT_KEY_PATH", "TEMPORAL_API_KEY")
    for name in ("gateway-temporal-setup", "gateway-wallet", "gateway-worker-version", "gateway-ledger-verify"):
        check(all(key in env[name] for key in tls), f"{name} lacks the settings of TLS to Temporal")
    check(env["gateway-ledger-verify"]["DATABASE_URL"] == "payments-gateway-worker/DATABASE_URL", "ledger-verify's login")
    check(all("NODE_EXTRA_CA_CERTS" in own for own in env.values()), "an unknown setting is for every process")
    check(payouts["WORKER_QUEUES"] == "payouts,batches,providers", "the queues of the workers of payouts")


def volumes(pods):
    for name, pod in pods.items():
        mounted = [one["name"] for container in pod["containers"] for one in container["volumeMounts"]]
        check("temporal" in [one["name"] for one in pod["volumes"]], f"{name} lacks the extra volumes")
        check(mounted.count("temporal") == len(pod["containers"]), f"{name} does not mount the extra volumes")


def jobs(objects):
    for one in objects:
        hook = one["metadata"].get("annotations", {}).get("helm.sh/hook-delete-policy")
        if hook is not None:
            check("hook-succeeded" in hook, f"helm uninstall leaves {one['metadata']['name']}")
    policy = find(objects, "NetworkPolicy", "gateway-jobs")
    check(policy and policy["metadata"]["annotations"]["helm.sh/hook-weight"] == "-1", "the jobs run before their policy")


def rest(plain, everything):
    for objects in (plain, everything):
        grace = pod_of(find(objects, "Deployment", "gateway-api"))["terminationGracePeriodSeconds"]
        check(grace == 20, f"the grace of api is {grace} s")
    api = find(everything, "Deployment", "gateway-api")
    check("replicas" not in api["spec"], "Helm sets the replicas that the autoscaler has chosen")
    console = find(everything, "Ingress", "gateway-console")
    check(console and console["spec"]["rules"][0]["host"] == "console.internal.example.com", "/console has no ingress")
    for tag, name in (("1", "1"), ("0.9.1", "0-9-1")):
        worker = pod_of(find(everything, "Deployment", f"gateway-worker-webhooks-{name}"))["containers"][0]
        env = variables(worker)
        check(worker["image"].endswith(":" + tag) and env["WORKER_BUILD_ID"] == tag, f"the workers of version {tag}")
    public = find(plain, "NetworkPolicy", "gateway-webhooks")["spec"]["egress"][0]["to"][0]["ipBlock"]
    check("100.64.0.0/10" in public["except"], "webhooks reach 100.64.0.0/10")


def main():
    plain, everything = load(sys.argv[1]), load(sys.argv[2])
    pods = workloads(everything)
    for one in (workloads(plain), pods):
        every_pod(one)
        probes(one)
    settings(pods)
    volumes(pods)
    jobs(everything)
    rest(plain, everything)
    for fault in FAULTS:
        print(fault)
    return 1 if FAULTS else 0


sys.exit(main())
