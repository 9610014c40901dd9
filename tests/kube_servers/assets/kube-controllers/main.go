// Four controllers of Kubernetes that no cluster is without: garbage collection, namespaces, service accounts, and the
// roles that gather others (admin, edit and view are such).
// The kube-controller-manager has the same code and a hundred other controllers that take longer to build.
package main

import (
	"context"
	"flag"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
)

const (
	workers = 10
	resync  = 10 * time.Hour
	// how soon a new kind of a CustomResourceDefinition is known
	discover = 2 * time.Second
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file that says where the API server is and who asks")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, *kubeconfig); err != nil {
		klog.ErrorS(err, "cannot start")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
	<-ctx.Done()
}

func run(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst, config.UserAgent = 1000, 2000, "kube-controllers"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	typed := informers.NewSharedInformerFactory(client, resync)
	untyped := metadatainformer.NewSharedInformerFactory(objects, resync)
	started := make(chan struct{})

	collector, err := garbagecollector.NewGarbageCollector(ctx, client, objects, mapper,
		garbagecollector.DefaultIgnoredResources(), informerfactory.NewInformerFactory(typed, untyped), started)
	if err != nil {
		return err
	}
	namespaces := namespace.NewNamespaceController(ctx, client, objects,
		client.Discovery().ServerPreferredNamespacedResources, typed.Core().V1().Namespaces(), resync, v1.FinalizerKubernetes)
	accounts, err := serviceaccount.NewServiceAccountsController(typed.Core().V1().ServiceAccounts(),
		typed.Core().V1().Namespaces(), client, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return err
	}
	roles := clusterroleaggregation.NewClusterRoleAggregation(typed.Rbac().V1().ClusterRoles(), client.RbacV1())

	typed.Start(ctx.Done())
	untyped.Start(ctx.Done())
	close(started)
	go collector.Run(ctx, workers, 30*time.Second)
	go collector.Sync(ctx, client.Discovery(), discover)
	go namespaces.Run(ctx, workers)
	go accounts.Run(ctx, 1)
	go roles.Run(ctx, 5)
	return nil
}
